"""Words that fuzzed commands are made of: right ones, by what a parameter is called, and hostile ones, by its type."""

from __future__ import annotations

import random
from typing import Any

INTEGERS = [
    "-1", "0", "1", "2", "3", "7", "64", "1000", "1000000", "2147483648", "9223372036854775808", "1" + "0" * 21,
    "-" + "9" * 30, "1e3", "1_000", "٣", "1.0", "0x10", "", "nan", "9" * 5000,
]  # fmt: skip
FLOATS = ["0", "-1", "0.5", "1e-300", "1e400", "-0.0", "nan", "inf", "-inf", "", "1,5", "9" * 400]
TEXTS = [
    "", " ", "-", "--", "---", "0", "-1", "a", "A b", "é", "😀", "٣", "\udcff", "a\udc80b", "\x1b[31mred", "a\nb", "\t", "\r",
    "*", "**", "?", "[", "]", "{", "}", "{}", "[]", "[[[", "%s", "%n", "$HOME", "`id`", "'", '"', "'; drop table results; --",
    "<script>alert(1)</script>", "\\", "/", "//", ".", "..", "../..", "~", "/dev/null", "/dev/zero", "/proc/self/mem", "runs/",
    "null", "true", "nan", "inf", "1e999", "a" * 300, "a" * 60_000, "9" * 5_000, "(" * 400, "[" * 3000, "-" * 498, "a/b/c/d",
    "a:b", "a=b", "=", ",", ",,", "1,2", "1-", "-5", "5-1", "1-3:0", "1-9999999999", "1-3,", "0-3", "5,5", "1-100000:1",
]  # fmt: skip
RUNS = ["runs/trained", "runs/exported", "trained", "successor", "parity", "addition"]
ENCODINGS = ["alibi", "rotary", "t5", "none", "kerple-log", "sandwich", "window"]
QUESTIONS = [
    "12+345",
    "7",
    "0",
    "999999",
    "0110",
    "1" * 2000,
    "1" * 2000 + "+" + "9" * 1999,
    "007",
    "12 + 5",
]
FORMULAS = [
    "-0.1*n",
    "-log(n)",
    "-n**2",
    "1/n",
    "-2*log(1+n)",
    "-sqrt(n)",
    "-n*log(n)",
    "alibi",
    "kerple-log",
]
COLUMNS = ["pe", "length", "pe,length", "recipe", "seed", "slice", "value"]
FILES = ["new", "new/deep"]
DRAWINGS = ["a.svg", "a.png", "a.pdf"]
KINDS = [
    "encodings",
    "tasks",
    "formats",
    "models",
    "recipes",
    "runs",
    "proved",
    "slices",
    "experiments",
    "examples",
]
RIGHT: dict[str, list[str]] = {
    "run": RUNS, "runs": RUNS, "from": RUNS, "model": RUNS, "places": ["runs", "runs/trained"], "recipe": ["own.yaml", "own.yaml",
    "runs/trained/recipe.yaml", "symmetry/addition-relative", "certified/successor"], "grid": ["grid.yaml", "own.yaml"],
    "lengths": ["1", "3", "2,3", "1-4", "1-9:4"], "at": ["3", "2,3"], "sql": ["select * from results", "select count(*) from runs",
    "select * from samples", "select pe, avg(value) from results group by pe", "select 1 as x"], "by": COLUMNS, "of": COLUMNS, "fit": ["0.9"],
    "words": QUESTIONS, "what": FORMULAS, "formulas": FORMULAS, "scale": ["smoke", "laptop"], "format": ["table", "csv", "json", "md", "latex"],
    "kind": KINDS, "name": ["alibi", "addition", "decoder"], "out": FILES, "figure": DRAWINGS, "figures": FILES, "on": ["local"],
    "calibrated": FILES, "file": ["question.txt"], "log-samples": ["samples.jsonl"], "device": ["cpu"], "slice": ["uniform", "cascades"],
    "slices": ["uniform", "uniform,cascades"], "metric": ["exact"], "check": ["runs/trained/certificate.json", "runs/exported/certificate.json"],
    "seeds": ["0", "0-1"], "against": ["alibi", "none"], "compare": ["alibi", "rotary", "none"], "paper": ["symmetry", "bias"],
    "experiment": ["symmetry/norms", "bias/calibration"], "claim": ["symmetry/fig2-rpe-holds"], "status": ["holds", "open"],
    "task": ["addition", "parity", "copying"], "encodings": ENCODINGS, "param": ["slope=0.5", "window=3"], "eps": ["0.01", "0.1"],
    "track": ["addition", "parity"], "only": ["alibi"], "seed": ["0", "1"], "n": ["1", "8"], "length": ["1", "3", "20"], "heads": ["1", "2", "8"],
    "train": ["5"], "serve": ["50"], "digits": ["1", "2", "3"], "limit": ["100", "100000"], "title": ["A title"], "text": ["text.txt"],
    "license": ["mit"], "set": ["train.steps=2"], "rope": ["linear=4", "ntk=4"], "dtype": ["float32"], "plot": ["a.svg"], "samples": ["4", "8"],
    "trained": ["16"], "memory": ["1"], "directions": ["all"], "coq": ["machine.v"], "source": ["runs"],
}  # fmt: skip
LINES: dict[tuple[str, ...], list[list[str]]] = {  # words that belong together
    ("ask",): [["12+345"], ["addition", "12+345"], ["runs/exported", "78"], ["runs/trained", "78"], ["successor", "9" * 3000], ["parity", "0110"]],
    ("eval",): [[]],
    ("explore",): [["runs/exported"], ["successor"], []],
    ("report",): [["runs/trained"], ["runs"], []],
    ("results",): [["runs"], ["runs/trained"], []],
    ("theory", "compare"): [["alibi", "kerple-log"], ["-log(n)", "-n"], ["sandwich"]],
    ("theory", "erf"): [["alibi"], ["alibi", "3"]],
}  # fmt: skip
CHANGES = [
    ("train.steps", "2"), ("train.lr", "0.001"), ("model.width", "8"), ("model.layers", "2"), ("pe", "alibi"), ("pe", "none"),
    ("eval.n", "4"), ("eval.lengths", "[2, 3]"), ("data.length", "2"), ("train.batch", "4"), ("seed", "1"), ("task", "parity"),
]  # fmt: skip
NEARLY: dict[str, list[str]] = {  # wrong in the way of their parameter
    "lengths": ["20000", "0", "1000000000", "3-1", "1-3:0", "a", ""], "at": ["1000000000", "3-1"], "run": ["runs", "none"],
    "recipe": ["fuzzed.yaml", "fuzzed.yaml", "fuzzed.yaml", "fuzzed.py", "symmetry/nothing", "examples/none", "fuzzed.json", "bias/addition-alibi"],
    "grid": ["fuzzed.yaml", "fuzzed.py", "symmetry/addition-relative"], "by": ["none", "length,length", "fingerprint", ""],
    "what": ["n", "0", "-1e-400*n", "-n**n", "n/0", "log(-n)", "exp(n)", "-(" * 200 + "n" + ")" * 200, "n" + "+n" * 2000,
    "__import__('os')", "m", "n!", "-9**9**9", "sin(n)", "n n"],
    "words": ["12+", "+", "1+1+1", "x", "-3+4", "2", "1.5+2", "\uff11\uff12+3"],
    "sql": ["select now()", "select 1/0", "select 'a'::int", "drop table results", "select 1; select 2", "copy results to 'x'",
    "select * from read_csv('/etc/passwd')", "attach 'x'", "select 'x'::blob", "select [1,2]", "select {'a': 1}", "select 1e308*10",
    "select 170141183460469231731687303715884105727", "select interval 1 year", "select date '294247-01-10'", "select 'nan'::float",
    "select chr(0)", "select repeat('a', 100000000)", "select * from range(100000000)", "pragma version", "explain select 1", "select", "--",
    "select \udcff", "with recursive t(n) as (select 1 union all select n+1 from t) select count(*) from t limit 1", "select uuid()",
    "select null", "select a.b.c", "select * from results a, results b, results c, results d, results e, results f, results g, results h"],
    "out": ["runs", "own.yaml", "a.pdf", "a.exe", "/dev/null/x", "/proc/x", "text.txt"], "file": ["text.txt", "runs", "/dev/zero"],
    "device": ["cuda", "cuda:9", "cpu:-1", "meta", "xpu", "tpu", "cuda:99999999999"], "address": ["nowhere:1", "x", ""],
    "seeds": ["1,1"], "of": ["pe,train.lr"], "track": ["tensorboard", "none"], "on": ["nowhere"], "experiment": ["symmetry/none"],
}  # fmt: skip
NEARLY |= {
    "figure": NEARLY["out"],
    "figures": NEARLY["out"],
    "calibrated": NEARLY["out"],
    "include": NEARLY["out"],
}
NEARLY |= {
    "runs": NEARLY["run"],
    "places": ["tables", "none"],
    "formulas": NEARLY["what"],
    "from": NEARLY["run"],
}
KEYS = [
    "name", "seed", "pe", "task", "format", "schemes", "label", "claim", "stop", "include", "data.length", "data.sampler", "data.noise",
    "model.kind", "model.layers", "model.width", "model.heads", "model.dropout", "model.feedforward", "train.steps", "train.batch",
    "train.lr", "train.warmup", "train.device", "train.threads", "train.accumulate", "train.average", "train.precision",
    "train.checkpoint_every", "train.from", "eval.lengths", "eval.n", "eval.slices", "eval.every", "eval.validation", "none.none",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, 1, 2, -1, 3, 10**6, 10**21, 2**63, 0.5, -1.0, 1e308, float("nan"), float("inf"), "", "a", "alibi", "decoder", "cpu",
    [], [1], [1, 1], [[1]], [None], {}, {"name": "alibi"}, {"name": "rotary", "axis": "column"}, {"name": 3}, {"a": {"b": {}}},
    {"name": "compose", "parts": ["alibi"]}, "<b>", "../x", "a.py:B", "\x1b[1m", "é" * 100, [{"name": "shifted", "reach": -1}],
]  # fmt: skip
PYTHON = [
    "recipe = 3", "recipe = None", "raise BaseException('x')", "raise SystemExit(3)", "raise KeyboardInterrupt", "import none_such",
    "def grid():\n    raise BaseException", "(", "recipes = []", "grid = {'recipe': 'own.yaml', 'seeds': [0, 0]}", "\0", "1/0",
    "def f(): return f()\nf()", "import os; os._exit", "recipe = {'task': 'addition', 'train': {'steps': -1}}",
]  # fmt: skip


def value(name: str, hint: Any, draw: random.Random, wrong: float) -> str:
    """A value for a parameter, wrong with this probability."""
    if draw.random() >= wrong:
        return draw.choice(RIGHT.get(name) or (["1", "2", "3"] if hint is int else ["0.5", "1"]))
    if name in NEARLY and draw.random() < 0.5:
        return draw.choice(NEARLY[name])
    return draw.choice(
        {int: INTEGERS, float: FLOATS}.get(hint) or [draw.choice(TEXTS), draw.choice(INTEGERS)]
    )
