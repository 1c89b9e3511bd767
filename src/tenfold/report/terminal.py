"""What the commands print for people: results as tables, a recipe's cost."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from tenfold.certify import Certificate
from tenfold.lab.cost import Cost
from tenfold.lab.recipe import Recipe
from tenfold.lab.run import Run


def print_result(run: Run) -> None:
    result = run.result()
    print(
        f"{result['parameters']:,} parameters, {result['steps']:,} steps in "
        f"{result['train_seconds']:.0f} s{', ' + result['reason'] if result['reason'] else ''}; "
        f"seed {result['seed']}; best checkpoint at step {result['best_step']}"
    )
    print_rows([row for row in result["rows"] if row["checkpoint"] == "best"])


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Exact match, a row a length and a column a slice; per-digit accuracy on the first slice."""
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


def _share(row: dict[str, Any] | None) -> str:
    """`97.4 (96.2-98.2)`, without the interval where there is none."""
    if row is None:
        return ""
    if row["low"] is None:
        return f"{100 * row['value']:.1f}"
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}-{100 * row['high']:.1f})"


def print_cost(recipe: Recipe, cost: Cost) -> None:
    """The resolved recipe and what it would cost."""
    how = "a few steps timed here" if cost.measured else "from this machine's matrix-multiply rate"
    print(recipe.as_yaml())
    print(f"run         {recipe.run_name}")
    print(f"parameters  {cost.parameters:,}")
    print(f"FLOPs       {cost.flops_per_step:,} a step")
    print(f"memory      {cost.memory_bytes / 2**20:,.0f} MiB for weights and optimizer")
    print(f"time        {_span(cost.seconds)} for {recipe.train.steps:,} steps ({how})")


def _span(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.1f} {unit}"
    return f"about {seconds:.0f} seconds"


def print_certificate(found: Certificate) -> None:
    """The verdict in words, with what it rests on."""
    depends = f"every answer digit depends on {found.columns} columns"
    if found.proved:
        print(
            f"{found.verdict}: right at every length\n{found.contexts:,} contexts, all right; "
            f"{depends}; the least margin of a right digit is {found.margin:.3g}"
        )
        return
    print(
        f"{found.verdict}: wrong on {found.wrong:,} of {found.contexts:,} contexts; {depends}\n"
        "the shortest inputs on which it fails, answered whole:"
    )
    for case in found.counterexamples:
        print(f"  {case['question']} = {case['answer'] or '(nothing)'}, truly {case['truth']}")
