"""What the commands show on a terminal: progress, results as tables, answers, a recipe's cost."""

from __future__ import annotations

import functools
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tenfold.core.errors import Diverged, Stopped, TenfoldError, printable
from tenfold.evals.metrics import SHARES
from tenfold.runs.build import build
from tenfold.runs.cost import cost as cost_of
from tenfold.runs.cost import span
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Answer, Run
from tenfold.runs.size_check import check_countable
from tenfold.runs.train import train
from tenfold.training.distributed import LostProcess, place


def print_result(run: Run) -> None:
    result = run.result()
    print(
        f"{result['parameters']:,} parameters, {result['steps']:,} steps in "
        f"{result['train_seconds']:.0f} s{', ' + printable(result['reason']) if result['reason'] else ''}; "
        f"seed {result['seed']}; best checkpoint at step {result['best_step']}"
    )
    print_rows([row for row in result["rows"] if row["checkpoint"] == "best"])


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Exact match, or of a text its perplexity: a row a length and a column a slice."""
    if answers := [row for row in rows if row["metric"] in SHARES]:
        _print_shares(answers)
    if read := [row for row in rows if row["metric"] not in SHARES]:
        _print_perplexity(read)


def _print_shares(rows: list[dict[str, Any]]) -> None:
    """Exact match; per-digit accuracy on the first slice."""
    longest_first = sorted(rows, key=lambda row: -row["length"])  # has all slices, in their order
    slices = list(dict.fromkeys(row["slice"] for row in longest_first))
    console = Console(width=None if sys.stdout.isatty() else 100)
    fits = max(1, (console.width - 24) // 19)  # columns of a table; the rest goes below
    cells = {(row["length"], row["slice"], row["metric"]): row for row in rows}
    n = max(row["n"] for row in rows)
    for start in range(0, len(slices), fits):
        shown = slices[start : start + fits]
        title = f"% exactly right (95% interval), n = {n}{_mark(rows)}" if start == 0 else None
        table = Table(
            "length", *map(_name, shown), *(["per token"] if start == 0 else []), title=title
        )
        for length in dict.fromkeys(row["length"] for row in rows):
            line = [_share(cells.get((length, name, "exact"))) for name in shown]
            if start == 0:
                line.append(_share(cells.get((length, shown[0], "digit"))))
            table.add_row(str(length), *line)
        console.print(table)


def _name(text: str) -> str:
    """A name from a file, as it is: without control characters and without rich's markup."""
    return escape(printable(text))


def _mark(rows: list[dict[str, Any]]) -> str:
    """What a table says of rows that are not the run's own results."""
    used = {row["evaluated_pe"] for row in rows if row.get("evaluated_pe")}
    return f"\nevaluated with {', '.join(map(_name, sorted(used)))}" if used else ""


def _print_perplexity(rows: list[dict[str, Any]]) -> None:
    """Of every slice that has it; then bits per byte, and the loss by place in a block of the longest length."""
    cells = {(row["length"], row["slice"], row["metric"]): row for row in rows}
    slices = list(dict.fromkeys(row["slice"] for row in rows if row["metric"] == "perplexity"))
    bits = any(row["metric"] == "bits-per-byte" for row in rows)
    longest = max(row["length"] for row in rows)
    console = Console(width=None if sys.stdout.isatty() else 100)
    if slices:
        n = max(row["n"] for row in rows)
        title = f"perplexity (95% interval) of {n:,} tokens{_mark(rows)}"
        table = Table(
            "tokens", *map(_name, slices), *(["bits per byte"] if bits else []), title=title
        )
        for length in dict.fromkeys(row["length"] for row in rows):
            line = [_number(cells.get((length, name, "perplexity"))) for name in slices]
            if bits:
                line.append(_number(cells.get((length, slices[0], "bits-per-byte"))))
            table.add_row(str(length), *line)
        console.print(table)
    places = [row for row in rows if row["slice"].startswith("position-")]
    if places:
        table = Table("tokens in sight", "loss", title=f"in blocks of {longest:,} tokens")
        for row in places:
            if row["length"] == longest:
                table.add_row(_name(row["slice"].removeprefix("position-")), _number(row))
        console.print(table)


def _number(row: dict[str, Any] | None) -> str:
    """`5.73 (5.51-5.96)`"""
    return _with_interval(row, lambda value: f"{value:.4g}")


def _share(row: dict[str, Any] | None) -> str:
    """`97.4 (96.2-98.2)`"""
    return _with_interval(row, lambda value: f"{100 * value:.1f}")


def _with_interval(row: dict[str, Any] | None, shown: Callable[[float], str]) -> str:
    """Nothing where there is no row, and no interval where it has none."""
    if row is None:
        return ""
    value = shown(row["value"])
    return value if row["low"] is None else f"{value} ({shown(row['low'])}-{shown(row['high'])})"


def train_watched(
    recipe: Recipe,
    out: Path | None = None,
    *,
    fresh: bool = False,
    track: str | None = None,
    log_samples: bool = False,
    force: bool = False,
) -> Run | None:
    """Train with a progress display. None in further processes of torchrun: the first one speaks for all."""
    if place().rank == 0:
        with Watch([recipe.name], [recipe.train.steps]) as watch:
            progress = functools.partial(watch, 0)
            return train(
                recipe, out, fresh=fresh, progress=progress, track=track, log_samples=log_samples,
                force=force,
            )  # fmt: skip
    try:
        train(recipe, out, force=force)
    except (Diverged, LostProcess, Stopped) as error:
        raise SystemExit(error.exit_code) from None
    return None


def print_trained(run: Run, *, as_json: bool = False) -> None:
    """The result of a run that was just trained, and what to try next."""
    if as_json:
        return print(json.dumps({"folder": str(run.folder), **run.result()}, indent=1))
    print_result(run)
    example = run.examples(run.recipe.data.length, 1)[0].question
    own = "".join(f" --include {shlex.quote(each.file)}" for each in run.recipe.include)
    return print(f"\nrun: {run.folder}\ntry: tenfold ask {run.folder} {shlex.quote(example)}{own}")


def print_cost(recipe: Recipe, *, force: bool = False, as_json: bool = False) -> None:
    """The resolved recipe and what it would cost; nothing in further processes of torchrun."""
    if place().rank > 0:
        return None
    if not force:
        check_countable(recipe)
    cost = cost_of(build(recipe))
    if as_json:
        line = {"recipe": recipe.as_json(), "run": recipe.run_name, **cost.as_json()}
        return print(json.dumps(line, indent=1))
    how = "a few steps timed here" if cost.measured else "from this machine's matrix-multiply rate"
    print(recipe.as_yaml())
    print(f"run         {recipe.run_name}")
    print(f"parameters  {cost.parameters:,}")
    print(f"FLOPs       {cost.flops_per_step:,} a step")
    print(
        f"memory      {cost.memory_bytes / 2**20:,.0f} MiB for weights, optimizer and activations"
    )
    print(f"time        {span(cost.seconds)} for {recipe.train.steps:,} steps ({how})")
    return None


def print_answer(answer: Answer, *, as_json: bool = False) -> None:
    """An answer with its wrong digits marked."""
    if as_json:
        return print(json.dumps({**vars(answer), "right": answer.right}, indent=1))
    console = Console(highlight=False, soft_wrap=True)
    if answer.truth is None:  # a text goes on in many ways
        console.print(Text(answer.question, style="dim").append(answer.answer, style="not dim"))
        return None
    shown = Text(f"{answer.question} = ")
    if not answer.answer:
        shown.append("(nothing)", style="bold red")
    for character, wrong in zip(answer.answer, answer.wrong_digits(), strict=True):
        shown.append(character, style="bold red underline" if wrong else "")
    console.print(shown)
    if answer.right:
        console.print("right", style="green")
        return None
    if answer.answer == answer.truth:
        console.print("wrong: its digits are right, the zeros in front of them or the end are not")
        return None
    marks = "".join("^" if wrong else " " for wrong in answer.wrong_digits())
    if marks:
        console.print((" " * (len(answer.question) + 3) + marks).rstrip(), style="red")
    console.print(f"wrong: the truth is {answer.truth}")
    return None


def print_answers(answers: Iterable[Answer], as_json: bool) -> None:
    """One a line on standard output, as they come; how many were right on standard error."""
    count = graded = right = 0
    for answer in answers:
        line = json.dumps({**vars(answer), "right": answer.right}) if as_json else answer.answer
        print(line, flush=True)
        count, graded = count + 1, graded + (answer.right is not None)
        right += bool(answer.right)
    if not count:
        raise TenfoldError("there are no questions in the file; one a line is wanted")
    if graded:
        print(f"{right:,} of {graded:,} right", file=sys.stderr)


QUIET_SECONDS = 10.0  # between two plain lines of a run


class Watch:
    """`with Watch(names, steps) as watch: watch(0, metrics)`; one bar a run."""

    def __init__(self, names: Sequence[str], steps: Sequence[int]) -> None:
        self.names, self.steps = names, steps
        self.console = Console(stderr=True)
        self.bars: Progress | None = None
        self.printed = [0.0] * len(names)
        self.began = [0.0] * len(names)
        self.first = [0] * len(names)
        self.accuracy = [""] * len(names)
        self.counted: dict[int, tuple[float, int]] = {}  # when counting began, and from where

    def __enter__(self) -> Watch:
        if self.console.is_terminal:
            self.bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[text]}"),
                console=self.console,
            )
            for name, steps in zip(self.names, self.steps, strict=True):
                self.bars.add_task(name, total=steps, text="")
            self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bars is not None:
            self.bars.stop()

    def __call__(self, number: int, metrics: dict[str, Any]) -> None:
        if "measured" in metrics:
            self._measuring(number, metrics)
            return
        if "eval" in metrics:
            self.accuracy[number] = accuracy_text(metrics["eval"])
        text = f"loss {metrics['loss']:.4f} {self.accuracy[number]}"
        if self.bars is not None:
            tasks = list(self.bars.task_ids)
            self.bars.update(tasks[number], completed=metrics["step"], text=text)
        else:
            self._line(number, metrics, text)

    def counting(self, doing: str) -> Callable[[int, int], None]:
        """For a single bar: a callback `(done, of)`; 0 where the whole is not known."""

        def progress(done: int, of: int) -> None:
            self(0, {"measured": done, "of": of or None, "doing": doing})

        return progress

    def print(self, text: str) -> None:
        """A line beside the bars."""
        self.console.print(text, highlight=False)

    def _measuring(self, number: int, metrics: dict[str, Any]) -> None:
        """After training: how much of the evaluation is done."""
        done, of = metrics["measured"], metrics["of"]
        text = metrics["doing"]
        if number not in self.counted or done < self.counted[number][1]:
            self.counted[number] = time.monotonic(), done
        if self.bars is not None:
            task = list(self.bars.task_ids)[number]
            if done == 1:
                self.bars.reset(task)
            self.bars.update(task, completed=done, total=of, text=text)
        elif time.monotonic() - self.printed[number] > QUIET_SECONDS:
            self.printed[number] = time.monotonic()
            count = f"{done}/{of}" if of else str(done)
            left = self._left(number, done, of)
            print(f"{self.names[number]}: {text}, {count}{left}", file=sys.stderr, flush=True)

    def _left(self, number: int, done: int, of: int | None) -> str:
        """How long the rest takes at the pace so far; nothing where that is not known yet."""
        began, first = self.counted[number]
        if of is None or done <= first:
            return ""
        pace = (time.monotonic() - began) / (done - first)
        return f", {span(pace * (of - done))} left"

    def _line(self, number: int, metrics: dict[str, Any], text: str) -> None:
        now, step, steps = time.monotonic(), metrics["step"], self.steps[number]
        if self.began[number] == 0.0:
            self.began[number], self.first[number], self.printed[number] = now, step, now
        if now - self.printed[number] < QUIET_SECONDS and step < steps:
            return
        self.printed[number] = now
        done = step - self.first[number]
        left = (now - self.began[number]) / done * (steps - step) if done else 0.0
        line = f"{self.names[number]}: step {step}/{steps}, {text}, {left:.0f} s left"
        print(line, file=sys.stderr, flush=True)


def accuracy_text(details: dict[str, Any]) -> str:
    """What was measured on the way, in words.

    >>> (
    ...     accuracy_text({"exact": {5: 0.31}}),
    ...     accuracy_text({"perplexity": {128: 5.731}}),
    ...     accuracy_text({}),
    ... )
    ('right at 5: 31%', 'perplexity at 128: 5.73', '')
    """
    parts = []
    if exact := details.get("exact"):
        shown = ", ".join(f"{length}: {100 * value:.0f}%" for length, value in exact.items())
        parts.append(f"right at {shown}")
    if perplexity := details.get("perplexity"):
        shown = ", ".join(f"{length}: {value:.2f}" for length, value in perplexity.items())
        parts.append(f"perplexity at {shown}")
    return ", ".join(parts)
