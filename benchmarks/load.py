"""Load: thousands of run folders, long questions, a large text. Time and the most memory, of a process of its own.

python -m benchmarks load            # 1,000 and 10,000 runs of 200 rows, 10^7 digits, 1 GB of text
python -m benchmarks load --quick    # tiny sizes
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tenfold import __version__
from tenfold.core.stored_files import sealed
from tenfold.runs.recipe import Recipe

LENGTHS, SLICES, CHECKPOINTS = 20, 5, 2  # rows of a run: their product
COMMAND = [sys.executable, "-m", "tenfold"]


def run(quick: bool, full: bool) -> dict[str, Any]:
    counts = (20, 40) if quick else (1_000, 10_000)
    digits, size = (1_000, 2**18) if quick else (10**7, 10**9)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lines = [line for count in counts for line in _runs(folder, count)]
        lines += _questions(folder, digits)
        lines += _text(folder, size)
        lines += _evaluation(folder, 200 if quick else 20_000)
    return {"lines": lines}


def table(result: dict[str, Any]) -> list[str]:
    shown = [
        f"| {line['what']} | {line['command']} | {line['cpu']:.0f} s | {line['memory'] / 1e6:,.0f} MB | {line['end']} |"
        for line in result["lines"]
    ]
    head = ["| load | command | CPU time | most memory | end |", "|---|---|---|---|---|"]
    return [*head, *shown]


def _runs(folder: Path, count: int) -> list[dict[str, Any]]:
    """Run folders with results: one recipe with other seeds and encodings."""
    place = folder / f"runs-{count}" / "runs"
    rows = [
        {
            "length": length, "slice": f"slice-{number}" if number else "uniform", "metric": "exact", "value": 0.5, "n": 100,
            "low": 0.4, "high": 0.6, "checkpoint": checkpoint,
        }
        for length in range(1, LENGTHS + 1) for number in range(SLICES) for checkpoint in ("best", "final")
    ]  # fmt: skip
    made = {"tenfold": __version__, "commit": None, "date": "2026-01-01T00:00:00+00:00"}
    first = Recipe.of({"name": "load"})
    for number in range(count):
        recipe = first.replace(seed=number // 10, pe=["alibi", "rotary", "none", "t5", "sandwich"][number % 5],
                               label=f"label-{number % 10 // 5}", train={"lr": 0.001 * (1 + number % 10 // 5)})  # fmt: skip
        outcome = {
            "fingerprint": recipe.fingerprint, "seed": recipe.seed, "steps": 3, "reason": None, "best_step": 2,
            "parameters": 7, "train_seconds": 0.5, "environment": made,
            "rows": [{**row, "value": (number * 7 + n) % 100 / 100} for n, row in enumerate(rows)],
        }  # fmt: skip
        home = place / recipe.run_name
        home.mkdir(parents=True)
        (home / "recipe.yaml").write_text(recipe.as_yaml())
        (home / "result.json").write_bytes(sealed(outcome))
    what = f"{count:,} runs, {count * len(rows):,} rows"
    commands = (["ls", "runs"], ["results"], ["results", "--sql", "select count(*), avg(value) from results"],
                ["results", "--out", "tables"], ["report", "--out", "page"])  # fmt: skip
    lines = [_measured(what, words, place.parent) for words in commands]
    shutil.rmtree(place.parent)
    return lines


def _questions(folder: Path, digits: int) -> list[dict[str, Any]]:
    question = folder / "question.txt"
    lines = []
    for name, text in (
        ("addition", f"{'7' * digits}+{'8' * digits}"),
        ("parity", "10" * (digits // 2)),
    ):
        question.write_text(text)
        lines.append(_asked(name, question, digits, folder))
    return lines


def _asked(name: str, question: Path, digits: int, folder: Path) -> dict[str, Any]:
    code = f"import tenfold; print(tenfold.open('{name}').ask(open('{question}').read()).right)"
    return _measured(
        f"a question of {digits:,} digits", [name, "ask"], folder, [sys.executable, "-c", code]
    )


def _text(folder: Path, size: int) -> list[dict[str, Any]]:
    """A corpus in one file, and in a hundred."""
    line = b"the quick brown fox jumps over the lazy dog and runs 1234567890 times\n"
    lines = []
    for count in (1, 100):
        place = folder / f"text-{count}"
        place.mkdir()
        for number in range(count):
            with (place / f"{number}.txt").open("wb") as file:
                for part in range(max(1, size // count // len(line) // 1000)):
                    file.write(b"%d %d\n" % (number, part) + line * 1000)
        recipe = {
            "name": "text", "task": {"name": "text", "corpus": {"name": "files", "path": str(place)}},
            "model": {"kind": "decoder", "layers": 1, "width": 16, "heads": 2}, "data": {"length": 32}, "pe": "alibi",
            "train": {"steps": 1, "batch": 1}, "eval": {"lengths": [32], "n": 1, "validation_n": 1},
        }  # fmt: skip
        (folder / "text.yaml").write_text(json.dumps(recipe))
        words = ["train", "text.yaml", "--out", f"trained-{count}"]
        lines.append(_measured(f"{size / 1e9:g} GB of text in {count} files", words, folder))
        shutil.rmtree(place)
    return lines


def _evaluation(folder: Path, length: int) -> list[dict[str, Any]]:
    words = ["eval", "addition", "--lengths", str(length), "--n", "1"]
    return [_measured(f"evaluation at {length:,} digits", words, folder)]


def _measured(
    what: str, words: list[str], folder: Path, command: list[str] | None = None
) -> dict[str, Any]:
    """Run a command; its CPU time, the most memory that it had, and how it ended."""
    environ = {**os.environ, "TENFOLD_CACHE": str(folder / "cache")}
    began = time.monotonic()
    process = subprocess.Popen(
        command or [*COMMAND, *words],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    output = process.stdout.read().decode(errors="replace").strip()
    _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return {
        "what": what, "command": " ".join(words)[:60], "cpu": used.ru_utime + used.ru_stime,
        "wall": time.monotonic() - began, "memory": used.ru_maxrss * 1024, "code": code,
        "end": "done" if code == 0 else output.splitlines()[-1][:160] if output else f"code {code}",
    }  # fmt: skip
