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
LENGTHS = ["1", "3", "2,3", "1-4", "1-9:4", "20000", "0", "1000000000", "3-1", "1-3:0", "a", ""]
RUNS = [
    "runs/trained",
    "runs/exported",
    "trained",
    "successor",
    "parity",
    "addition",
    "runs",
    "none",
]
RECIPES = [
    "own.yaml", "fuzzed.yaml", "fuzzed.py", "symmetry/addition-relative", "bias/addition-alibi", "certified/successor",
    "symmetry/nothing", "runs/trained/recipe.yaml", "examples/none", "fuzzed.json",
]  # fmt: skip
GRIDS = ["grid.yaml", "fuzzed.yaml", "fuzzed.py", "own.yaml", "symmetry/addition-relative"]
FORMULAS = [
    "-0.1*n", "-log(n)", "-n**2", "1/n", "-2*log(1+n)", "-sqrt(n)", "n", "0", "-1e-400*n", "-n**n", "n/0", "log(-n)", "exp(n)",
    "-(" * 200 + "n" + ")" * 200, "n" + "+n" * 2000, "__import__('os')", "m", "n!", "-9**9**9", "sin(n)", "-n*log(n)", "n n",
]  # fmt: skip
QUESTIONS = [
    "12+345", "7", "0", "999999", "12+", "+", "1+1+1", "x", "-3+4", "1" * 2000, "1" * 2000 + "+" + "9" * 1999, "0110", "2", "007",
    "12 + 5", "1.5+2", "\uff11\uff12+3",
]  # fmt: skip
SQL = [
    "select * from results", "select count(*) from runs", "select * from samples", "select now()", "select 1/0", "select 'a'::int",
    "drop table results", "select 1; select 2", "copy results to 'x'", "select * from read_csv('/etc/passwd')", "attach 'x'",
    "select 'x'::blob", "select [1,2]", "select {'a': 1}", "select 1e308*10", "select 170141183460469231731687303715884105727",
    "select interval 1 year", "select date '294247-01-10'", "select 'nan'::float", "select chr(0)", "select repeat('a', 100000000)",
    "select * from range(100000000)", "pragma version", "explain select 1", "select", "--", "select \udcff", "with recursive t(n) as "
    "(select 1 union all select n+1 from t) select count(*) from t limit 1", "select uuid()", "select null", "select a.b.c",
    "select * from results a, results b, results c, results d, results e, results f, results g, results h",
]  # fmt: skip
COLUMNS = [
    "pe",
    "length",
    "pe,length",
    "recipe",
    "seed",
    "none",
    "value",
    "length,length",
    "fingerprint",
    "",
]
FILES = [
    "new",
    "new/deep",
    "runs",
    "own.yaml",
    "a.pdf",
    "a.svg",
    "a.png",
    "a.exe",
    "/dev/null/x",
    "/proc/x",
    "text.txt",
]
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
    "none",
]
BY_NAME: dict[str, list[str]] = {
    "run": RUNS, "runs": RUNS, "places": [*RUNS, "tables"], "recipe": RECIPES, "grid": GRIDS, "lengths": LENGTHS, "sql": SQL,
    "by": COLUMNS, "words": QUESTIONS, "question": QUESTIONS, "formula": FORMULAS, "formulas": FORMULAS, "scale": ["smoke", "demo", "none"],
    "format": ["table", "csv", "json", "md", "latex"], "kind": KINDS, "name": [*KINDS, "alibi", "addition", "truncated", *RUNS],
    "out": FILES, "figure": FILES, "figures": FILES, "on": ["local", "nowhere"], "from": RUNS, "calibrated": FILES, "include": FILES,
    "device": ["cpu", "cuda", "cuda:9", "cpu:-1", "meta", "xpu", "tpu", "cuda:99999999999"], "pe": ["alibi", "rotary", "none", "nothing"],
    "slice": ["uniform", "cascades", "none"], "metric": ["exact", "perplexity", "none"], "at": LENGTHS, "check": ["runs/trained/certificate.json",
    "runs/exported/certificate.json", "own.yaml"], "seeds": ["0", "0-2", "1,1"], "address": ["nowhere:1", "x", ""],
    "of": ["pe", "pe,train.lr", "recipe"], "against": ["alibi", "none"], "compare": ["alibi", "rotary", "none"], "paper": ["symmetry", "bias", "none"],
    "experiment": ["symmetry/none", "none"], "claim": ["none", "symmetry/fig2-rpe-holds"], "track": ["tensorboard", "none"],
    "task": ["addition", "parity", "none"], "encoding": ["alibi", "rotary", "none"], "encodings": ["alibi", "rotary", "t5", "none"],
}  # fmt: skip
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


def value(name: str, hint: Any, draw: random.Random) -> str:
    """A value for a parameter: one in three is hostile."""
    right = BY_NAME.get(name)
    if right is not None and draw.random() < 0.67:
        return draw.choice(right)
    if hint is int:
        return draw.choice(INTEGERS)
    if hint is float:
        return draw.choice(FLOATS)
    return draw.choice([draw.choice(TEXTS), draw.choice(INTEGERS), *(draw.choice(right or TEXTS),)])
