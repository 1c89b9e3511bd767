"""What the commands print for people: results as tables, a recipe's cost."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tenfold.certify import Certificate, Extracted
from tenfold.errors import TenfoldError
from tenfold.lab.checked import SHARES
from tenfold.lab.cost import Cost
from tenfold.lab.feats import Feat
from tenfold.lab.recipe import Recipe
from tenfold.lab.run import Answer, Run
from tenfold.report.machines import column_label, token_label
from tenfold.tasks.base import Task


def print_result(run: Run) -> None:
    result = run.result()
    print(
        f"{result['parameters']:,} parameters, {result['steps']:,} steps in "
        f"{result['train_seconds']:.0f} s{', ' + result['reason'] if result['reason'] else ''}; "
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
        title = f"% exactly right (95% interval), n = {n}" if start == 0 else None
        table = Table("digits", *shown, *(["per digit"] if start == 0 else []), title=title)
        for length in dict.fromkeys(row["length"] for row in rows):
            line = [_share(cells.get((length, name, "exact"))) for name in shown]
            if start == 0:
                line.append(_share(cells.get((length, shown[0], "digit"))))
            table.add_row(str(length), *line)
        console.print(table)


def _print_perplexity(rows: list[dict[str, Any]]) -> None:
    """Of every slice that has it; then bits per byte, and the loss by place in a block of the longest length."""
    cells = {(row["length"], row["slice"], row["metric"]): row for row in rows}
    slices = list(dict.fromkeys(row["slice"] for row in rows if row["metric"] == "perplexity"))
    bits = any(row["metric"] == "bits-per-byte" for row in rows)
    longest = max(row["length"] for row in rows)
    console = Console(width=None if sys.stdout.isatty() else 100)
    if slices:
        n = max(row["n"] for row in rows)
        title = f"perplexity (95% interval) of {n:,} tokens"
        table = Table("tokens", *slices, *(["bits per byte"] if bits else []), title=title)
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
                table.add_row(row["slice"].removeprefix("position-"), _number(row))
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


def print_cost(recipe: Recipe, cost: Cost) -> None:
    """The resolved recipe and what it would cost."""
    how = "a few steps timed here" if cost.measured else "from this machine's matrix-multiply rate"
    print(recipe.as_yaml())
    print(f"run         {recipe.run_name}")
    print(f"parameters  {cost.parameters:,}")
    print(f"FLOPs       {cost.flops_per_step:,} a step")
    print(
        f"memory      {cost.memory_bytes / 2**20:,.0f} MiB for weights, optimizer and activations"
    )
    print(f"time        {span(cost.seconds)} for {recipe.train.steps:,} steps ({how})")


def span(seconds: float) -> str:
    """
    >>> span(42), span(150), span(9000)
    ('about 42 seconds', 'about 2.5 minutes', 'about 2.5 hours')
    """
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.1f} {unit}"
    return f"about {seconds:.0f} seconds"


def print_answer(answer: Answer) -> None:
    """An answer with its wrong digits marked."""
    console = Console(highlight=False, soft_wrap=True)
    if answer.truth is None:  # a text goes on in many ways
        console.print(Text(answer.question, style="dim").append(answer.answer, style="not dim"))
        return
    shown = Text(f"{answer.question} = ")
    if not answer.answer:
        shown.append("(nothing)", style="bold red")
    for character, wrong in zip(answer.answer, answer.wrong_digits(), strict=True):
        shown.append(character, style="bold red underline" if wrong else "")
    console.print(shown)
    if answer.right:
        console.print("right", style="green")
        return
    if answer.answer == answer.truth:
        console.print("wrong: its digits are right, the zeros in front of them or the end are not")
        return
    marks = "".join("^" if wrong else " " for wrong in answer.wrong_digits())
    if marks:
        console.print((" " * (len(answer.question) + 3) + marks).rstrip(), style="red")
    console.print(f"wrong: the truth is {answer.truth}")


def print_answers(answers: Iterable[Answer], as_json: bool) -> None:
    """One a line on standard output, as they come; how many were right on standard error."""
    asked = graded = right = 0
    for answer in answers:
        line = json.dumps({**vars(answer), "right": answer.right}) if as_json else answer.answer
        print(line, flush=True)
        asked, graded = asked + 1, graded + (answer.right is not None)
        right += bool(answer.right)
    if not asked:
        raise TenfoldError("there are no questions in the file; one a line is wanted")
    if graded:
        print(f"{right:,} of {graded:,} right", file=sys.stderr)


def print_certificate(found: Certificate) -> None:
    """The verdict in words, with what it rests on."""
    depends = f"every answer digit depends on {found.columns} column" + "s" * (found.columns != 1)
    if found.proved:
        limit = "not bounded" if found.bound is None else f"at most {found.bound:.3g}"
        print(
            f"{found.verdict}: right at every length\n{found.contexts:,} contexts, all right; "
            f"{depends}; the least margin of a right digit is {found.margin:.3g}, what rounding may "
            f"take from it {limit}; {found.seconds:.1f} s"
        )
        return
    print(
        f"{found.verdict}: wrong on {found.wrong:,} of {found.contexts:,} contexts; {depends}\n"
        "the shortest inputs on which it fails, answered whole:"
    )
    for case in found.counterexamples:
        print(f"  {case['question']} = {case['answer'] or '(nothing)'}, truly {case['truth']}")


def print_feat(found: Feat) -> None:
    """A very long problem, both ways."""
    verdict = "every digit right" if found.right else "WRONG"
    same = "the same" if found.agrees else "SOMETHING ELSE"
    print(
        f"{found.what}: {verdict}, {found.model_seconds:.2f} s by the model; {same} by its machine, "
        f"{found.machine_seconds:.3f} s"
    )


def print_machine(found: Extracted, task: Task) -> None:
    """What machine a model is, and whether it is its task's."""
    machine, differs = found.machine, found.differs
    most = "no smaller one does the same" if machine.smallest else f"at least {machine.bound}"
    print(
        f"{machine.states} states, {most}; from {found.contexts:,} contexts\n"
        f"the task's own machine: {'yes, state for state' if found.own else 'no'}"
    )
    if differs is not None:
        read = " ".join(map(column_label(found), differs.word.tolist()))
        ours, theirs = (token_label(task, out) for out in (differs.output, differs.task_output))
        print(
            f"they differ first after the columns {read} (lowest first): from state {differs.state} it "
            f"writes {ours}, the task {theirs}"
        )
