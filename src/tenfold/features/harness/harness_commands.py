"""The command `tenfold lm-eval export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tenfold.cli.app import Json, app, as_text, parse_lengths, print_json

harness = App(
    name="lm-eval", help="Tasks for the LM Evaluation Harness, which measures any language model."
)
app.command(harness)


@harness.command
def export(
    *,
    out: Annotated[Path, Parameter(help="The new folder to write the task files to.")],
    task: Annotated[str, Parameter(help="An arithmetic task.")] = "addition",
    lengths: Annotated[str, Parameter(help="Digits: 1-20, or 5,10,20-40:10.")] = "1-20",
    slices: Annotated[
        str | None,
        Parameter(help="Which problems, separated by commas; default: all that are hard, too."),
    ] = None,
    format_: Annotated[
        str, Parameter(name="--format", help="How problems are written: plain, reversed or spaced.")
    ] = "plain",
    n: Annotated[int, Parameter(help="Problems of each slice and length.")] = 100,
    shots: Annotated[int, Parameter(help="Examples before each question.")] = 4,
    seed: Annotated[int, Parameter(help="Of the problems.")] = 0,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Write task files for the LM Evaluation Harness: arithmetic by length, with hard slices as subtasks.

    `tenfold lm-eval export --task addition --lengths 1-20 --out tasks`
    """
    from tenfold.features.harness.harness_tasks import SLICES, write_tasks
    from tenfold.runs.terminal import Watch

    chosen = SLICES if slices is None else tuple(each.strip() for each in slices.split(","))
    with Watch([task], [0]) as watch:
        written = write_tasks(
            task,
            parse_lengths(lengths),
            out,
            slices=chosen,
            written=format_,
            n=n,
            shots=shots,
            seed=seed,
            progress=watch.counting("writing problems"),
        )
    if json_:
        return print_json(as_text(written))
    everything = list(written)[-1]
    print(
        f"{len(written)} tasks and groups in {out}; all of them together are the group {everything}"
    )
    print(
        f"try: lm_eval --model hf --model_args pretrained=MODEL --include_path {out} --tasks {everything}"
    )
    return None
