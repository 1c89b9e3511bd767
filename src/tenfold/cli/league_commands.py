"""The league: its entries, its table, and an encoding of one's own in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tenfold.cli.app import Json, app, parse_numbers, print_json, print_written
from tenfold.cli.sweep_commands import Address, On, Workers

league = App(
    name="league", help="Every encoding and method under one set of rules (docs/league.md)."
)
app.command(league)

TrackName = Annotated[
    str, Parameter(name="--track", help="addition, multiplication, parity, copying or text.")
]
LeagueScale = Annotated[
    str, Parameter(help="smoke (seconds), laptop (the committed table) or paper (days).")
]
Layers = Annotated[int | None, Parameter(help="The size of the models: 3 layers (the table) or 1.")]
Results = Annotated[Path, Parameter(help="The folder that holds league/TRACK/SCALE/rows.csv.")]


@league.command
def ls(
    *,
    track: TrackName = "addition",
    scale: LeagueScale = "laptop",
    results: Results = Path("results"),
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """List the entries of a track, with what is committed of each."""
    from tenfold.league.league_text import listing

    lines, values = listing(track, scale, results)
    if json_:
        return print_json(values)
    print("\n".join(lines))
    return None


@league.command
def run(
    *,
    track: TrackName = "addition",
    scale: LeagueScale = "laptop",
    only: Annotated[
        str | None, Parameter(help="Entries to run, separated by commas; default: all.")
    ] = None,
    seeds: Annotated[str, Parameter(help="Seeds, such as 0-2 or 0,3.")] = "0",
    layers: Layers = None,
    on: On = "local",
    workers: Workers = None,
    address: Address = None,
    out: Annotated[Path, Parameter(help="The folder of the runs.")] = Path("runs/league"),
    results: Results = Path("results"),
    dry_run: Annotated[
        bool, Parameter(negative=(), help="Say what is missing and what it costs; train nothing.")
    ] = False,
) -> None:
    """Complete the table of a track: train, measure and keep what it lacks. The same command again goes on.

    `tenfold league run --track addition --only rotary,alibi --seeds 0-2 --workers 2`
    """
    from tenfold.league.run_league import LeaguePlace, run_league
    from tenfold.sweeps.sweep import pool_of

    pool_of(on, workers, address)  # raises first where one of these is wrong
    place = LeaguePlace(out, results, on, workers, address)
    wanted = parse_numbers(seeds, "seed", 0)
    outcome = run_league(
        track, scale=scale, only=only, seeds=wanted, layers=layers, place=place, dry_run=dry_run
    )
    if outcome.failed:
        raise SystemExit(1)


@league.command(name="enter")
def enter_(
    file: Annotated[
        str,
        Parameter(
            help="A Python file with one encoding class, which is executed; or FILE.py:NAME."
        ),
    ],
    /,
    *,
    track: TrackName = "addition",
    scale: LeagueScale = "laptop",
    seeds: Annotated[str, Parameter(help="Seeds, such as 0-2 or 0,3.")] = "0",
    out: Annotated[Path, Parameter(help="The folder of the runs.")] = Path("runs/league"),
    results: Results = Path("results"),
) -> None:
    """Train an encoding of your own under the rules, and print its row among the committed ones, which stay as they are.

    `tenfold league enter examples/log_bias.py --track addition`
    """
    from tenfold.league.enter import enter
    from tenfold.league.league_text import table_lines
    from tenfold.league.run_league import LeaguePlace

    place = LeaguePlace(out, results, workers=1)
    made = enter(file, track, scale=scale, seeds=parse_numbers(seeds, "seed", 0), place=place)
    print("\n".join(table_lines(made.track, made.ranked)))


@league.command
def page(
    *,
    tracks: Annotated[
        str | None, Parameter(name="--track", help="Tracks, separated by commas; default: all.")
    ] = None,
    scale: LeagueScale = "laptop",
    results: Annotated[
        Path | None, Parameter(help="The folder of committed results; default: results.")
    ] = None,
    out: Annotated[Path, Parameter(help="The folder to write to.")] = Path("league"),
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Write league.html, one page that needs no network, and league.csv and league.json beside it."""
    from tenfold.league.league_page import write_page

    names = [name.strip() for name in tracks.split(",")] if tracks is not None else []
    print_written(write_page(out, names, scale, results), json_)


@league.command
def figure(
    *,
    track: TrackName = "addition",
    scale: LeagueScale = "laptop",
    results: Annotated[
        Path | None, Parameter(help="The folder of committed results; default: results.")
    ] = None,
    out: Annotated[
        Path, Parameter(help="The file of the figure, without its ending; PNG and SVG are written.")
    ] = Path("results/league/addition"),
) -> None:
    """Draw the best entry of each label and the usual suspects against length, and print the caption."""
    from tenfold.league.league_figure import caption, draw_league
    from tenfold.league.league_page import tables

    rules, ranked = tables([track], scale, results)[track]
    for path in draw_league(rules, ranked, out):
        print(path)
    print(caption(rules, ranked))


@league.command
def gather(
    source: Annotated[Path, Parameter(help="The folder `results` of another copy of tenfold.")],
    /,
    *,
    results: Results = Path("results"),
) -> None:
    """Add the rows of another folder of results, such as that of another machine, that are not here yet."""
    from tenfold.league.run_league import harvest

    print(f"{harvest(source, results)} new runs in {results / 'league'}")
