"""What experiments measure of finished runs beyond their own rows: more slices, single digits, checkpoints, gains."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batcher
from tenfold.data.formats.numeric import Format
from tenfold.data.tasks import samplers
from tenfold.data.tasks.task import Sampler
from tenfold.evals.exact_match import Answerer, Examiner, RowMemory
from tenfold.evals.statistics import Measurement
from tenfold.ledger.experiments import Lab
from tenfold.results.row_schema import Row
from tenfold.runs.run import CHECKPOINTS, Run

Ask = Callable[[Answerer], Sequence[Measurement]]
RUNS = (*range(1, 11), 12, 16, 20, 30)  # columns


def more_slices(
    lab: Lab, run: Run, lengths: Sequence[int], slices: Sequence[str], written: Format | None = None
) -> Iterator[Row]:
    """Rows of a run at these lengths and slices; `written` in another format, if one is given.

    What the run has measured itself, in its own format, is left out: `collect` has it.
    """
    examiner = examiner_of(run, written)
    limit = examiner.batcher.format.longest()
    possible = [length for length in lengths if limit is None or length <= limit]
    known = _known(run) if written is None else set()
    for row in of_both(
        lab, run, lambda model: examiner.rows(model, possible, slices, run.recipe.eval.n)
    ):
        if (row["length"], row["slice"]) not in known:
            yield row


def farther(lab: Lab, run: Run, problems: Mapping[int, int]) -> Iterator[Row]:
    """Exact match of the best checkpoint at more lengths: so many problems of each."""
    about = {**lab.about(run), "checkpoint": "best"}
    for length, n in problems.items():
        yield from ({**about, **row.as_json()} for row in run.evaluate([length], ["uniform"], n))


def every_run(
    lab: Lab,
    run: Run,
    length: int,
    *,
    cascades: Sequence[int] = RUNS,
    carries: Sequence[int] = RUNS,
) -> Iterator[Row]:
    """Rows of two-operand sums of this length by how far their carries run: `cascade-3`, `carries-3`, ...

    Cascades of these lengths and through all columns, and carries in a row that do not run on; those that the run has are
    left out.
    """
    by_label: dict[str, Sampler] = {
        **{
            f"cascade-{k}": functools.partial(samplers.cascade, cascade=k)
            for k in cascades
            if k < length
        },
        "cascade-all": functools.partial(samplers.cascade, cascade=length),
        **{
            f"carries-{k}": functools.partial(samplers.carries, carries=k)
            for k in carries
            if k < length
        },
    }
    known = _known(run)
    wanted = {label: draw for label, draw in by_label.items() if (length, label) not in known}
    examiner = examiner_of(run)

    def ask(model: Answerer) -> Sequence[Measurement]:
        rows: list[Measurement] = []
        for label, draw in wanted.items():
            examples = examiner.problems(length, label, draw, run.recipe.eval.n)
            rows += examiner.grade(model, examples, length, label)
        return rows

    yield from of_both(lab, run, ask)


def of_both(lab: Lab, run: Run, ask: Ask) -> Iterator[Row]:
    """Measure the best and the final checkpoint; once, where they are the same."""
    about = lab.about(run)
    measured: dict[bool, Sequence[Measurement]] = {}
    alike = run.result()["best_step"] == run.result()["steps"]
    for which in CHECKPOINTS:
        key = alike or which == "best"
        if key not in measured:
            measured[key] = ask(run.answerer(which))
        yield from ({**about, **row.as_json(), "checkpoint": which} for row in measured[key])


def examiner_of(run: Run, written: Format | None = None) -> Examiner:
    """What asks a run its problems, as its recipe writes them or in another format of the same layout."""
    own, size = run.built.batcher, run.recipe.model
    batcher = own if written is None else Batcher(own.task, written, own.layout, own.schemes)
    return Examiner(batcher, 0, RowMemory(size.heads, size.width), run.recipe.train.device)


def checkpoints(lab: Lab, run: Run) -> Iterator[Row]:
    """Exact match of every checkpoint that training looked at, from its log: the checkpoints `step-100`, ..."""
    about = {**lab.about(run), "slice": "uniform", "metric": "exact"}
    for step, exact in looked_at(run):
        for length, value in exact.items():
            yield {
                **about, "length": length, "value": value, "n": run.recipe.eval.validation_n,
                "checkpoint": f"step-{step}", "steps": step,
            }  # fmt: skip


def spread(lab: Lab, run: Run) -> Iterator[Row]:
    """Highest less lowest accuracy over the checkpoints of the second half of training, at each length: `exact-spread`."""
    late = [exact for step, exact in looked_at(run) if 2 * step >= run.recipe.train.steps]
    if len(late) < 2:
        raise TenfoldError(
            f"{run.folder} was looked at {len(late)} times in its second half; set eval.every"
        )
    about = {**lab.about(run), "slice": "uniform", "metric": "exact-spread", "checkpoint": ""}
    for length in late[0]:
        values = [exact[length] for exact in late]
        n = run.recipe.eval.validation_n
        yield {**about, "length": length, "value": max(values) - min(values), "n": n}


def looked_at(run: Run) -> list[tuple[int, dict[int, float]]]:
    """Steps and exact match by length, from the evaluations during training; a language model has none."""
    lines = [line for line in run.metrics() if "exact" in line.get("eval", ())]
    return [
        (line["step"], {int(length): value for length, value in line["eval"]["exact"].items()})
        for line in lines
    ]


def gains(lab: Lab, recipe: str, better: str, than: str) -> Iterator[Row]:
    """Exact match of one recipe less that of another, seed by seed, at every length: `exact-gain`, under a name of its own."""
    runs = {(run.recipe.name, run.recipe.seed): run for run in lab.runs}
    for (name, seed), run in runs.items():
        if name != better or (than, seed) not in runs:
            continue
        ours, other = _uniform(run), _uniform(runs[than, seed])
        shared = {"recipe": recipe, "seed": seed, "slice": "uniform", "metric": "exact-gain"}
        shared |= {key: lab.about(run)[key] for key in ("task", "format", "trained", "steps")}
        for length in ours.keys() & other.keys():
            yield {**shared, "length": length, "value": ours[length] - other[length]}


def _uniform(run: Run) -> dict[int, float]:
    cell = {"slice": "uniform", "metric": "exact", "checkpoint": "best"}
    rows = run.result()["rows"]
    return {row["length"]: row["value"] for row in rows if cell.items() <= row.items()}


def _known(run: Run) -> set[tuple[int, str]]:
    return {(row["length"], row["slice"]) for row in run.result()["rows"]}
