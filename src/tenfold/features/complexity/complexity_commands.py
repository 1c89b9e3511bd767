"""The command `tenfold theory complexity`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from tenfold.cli.app import Json, print_json, theory


@theory.command
def complexity(
    what: Annotated[
        Literal["cascades", "carries", "levels"],
        Parameter(
            help="Longest carry chain, carries in a row, or levels of the parallel algorithm."
        ),
    ] = "cascades",
    /,
    *,
    length: Annotated[int, Parameter(help="Digits of the numbers, at most.")],
    base: Annotated[int, Parameter(help="The base that the numbers are written in.")] = 10,
    full: Annotated[
        bool, Parameter(negative=(), help="Only numbers of exactly that many digits.")
    ] = False,
    most: Annotated[
        int | None, Parameter(help="The longest run to list; default: the length.")
    ] = None,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """How complex uniform sums and products are: the exact share of problems by their longest run of carries.

    `tenfold theory complexity cascades --length 50 --most 6`
    """
    from tenfold.features.complexity.complexity import distribution, distribution_lines

    shares = distribution(what, length, base, full=full, most=most)
    if json_:
        return print_json([float(share) for share in shares])
    print(*distribution_lines(shares), sep="\n")
    return None
