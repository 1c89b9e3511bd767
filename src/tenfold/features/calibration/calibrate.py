"""Calibrate a run, and create the recipe that trains again with its lines (ABC of the `bias` paper, 2310.11984)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.batch import Batch
from tenfold.data.tasks.task import Examples, check_length
from tenfold.evals.statistics import wilson
from tenfold.features.calibration.calibration import Accuracy, Calibration, Positions
from tenfold.features.calibration.line_selection import Compared, Rows, Rules, Source, find
from tenfold.features.calibration.mean_attention import (
    DIRECTIONS,
    STEPS,
    Along,
    Direction,
    LineKind,
    Scores,
    average,
)
from tenfold.models import AttentionModel, attention_in
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import Run, Which, open_run

FILE = "calibration.json"  # in the folder of the calibrated run
ENOUGH = 0.99  # accuracy at the training lengths below which a model does not interpolate
SAMPLES, CHECKED = 256, 1000  # problems for mean attention, and for the accuracy check
PART = 256  # problems of one length at a time
# The options of `calibrate` that are the paper's own form, for a model whose training has one width: that of the longest test.
PUBLISHED: dict[str, Any] = {
    "lines": "matrix", "best": "direction", "source": "last", "right_only": True, "rows": "digits",
    "kappa_self": 0.87, "kappa_cross": 4.5,
}  # fmt: skip
# The same as the paper's code has it, which differs from the text: weights after the softmax, summed along lines, diagonals alone in
# self-attention and anti-diagonals alone in cross-attention. Its two kappas, 0.87 among 6 lines and 4.5 among 130, are both 0.39
# of the largest that a line could pass, so that this share stands for them with any number of lines.
AS_CODED: dict[str, Any] = {
    **{key: value for key, value in PUBLISHED.items() if not key.startswith("kappa")}, "kappa_share": 0.39,
    "scores": "weights", "along": "sum", "directions": ("diagonal",), "cross_directions": ("anti-diagonal",),
}  # fmt: skip


def calibrate(
    run: Run | Path | str,
    samples: int = SAMPLES,
    *,
    kappa_self: float | None = None,
    kappa_cross: float | None = None,
    kappa_share: float | None = None,
    directions: tuple[Direction, ...] = DIRECTIONS,
    cross_directions: tuple[Direction, ...] | None = None,
    source: Source = "each",
    scores: Scores = "logits",
    soft: bool = False,
    lines: LineKind = "tokens",
    best: Compared = "head",
    right_only: bool = False,
    rows: Rows = "all",
    along: Along = "mean",
    allow_imperfect: bool = False,
    checked: int = CHECKED,
    which: Which = "best",
    progress: Callable[[int, int], None] | None = None,
) -> Calibration:
    """Find the lines along which a run's heads attend, on problems of its training lengths.

    `calibrate("runs/...", source="each").lines` -> [Line(attention="causal", layer=1, head=1, ...), ...]
    `calibrate("runs/...", **PUBLISHED)`: the paper's own form; `**AS_CODED`: that of its code.

    Raises an error for a model that is not right on these problems, unless `allow_imperfect`. The result states its accuracy.
    Of a language model, `samples` are stretches of its training text, and nothing has to be right.
    """
    for name, count in (("samples", samples), ("problems to check", checked)):
        if count < 1:
            raise TenfoldError(f"{count} {name}; at least 1")
    for name, kappa in (
        ("kappa_self", kappa_self), ("kappa_cross", kappa_cross), ("kappa_share", kappa_share)
    ):  # fmt: skip
        if kappa is not None and not math.isfinite(kappa):
            raise TenfoldError(f"a {name} of {kappa}; a number of sigmas is right: 0.87")
    for name, value, known in (
        ("source of lines", source, get_args(Source)),
        ("kind of scores", scores, get_args(Scores)),
        ("kind of lines", lines, get_args(LineKind)),
        ("best line to compare with", best, get_args(Compared)),
        ("choice of answer tokens", rows, get_args(Rows)),
        ("way to compare lines", along, get_args(Along)),
        *(
            ("direction", direction, STEPS)
            for direction in (*directions, *(cross_directions or ()))
        ),
    ):
        if value not in known:
            raise unknown(name, value, known)
    every = (*directions, *(cross_directions or ()))
    further = [direction for direction in every if direction not in DIRECTIONS]
    if further and lines == "tokens":
        raise TenfoldError(
            f"lines of tokens have no direction {further[0]}; lines of the matrix of indices have: --lines matrix"
        )
    rules = Rules(
        scores=scores, kappa_self=kappa_self, kappa_cross=kappa_cross, kappa_share=kappa_share,
        directions=directions, cross_directions=cross_directions, along=along, source=source, soft=soft, lines=lines, best=best, right_only=right_only, rows=rows,
    )  # fmt: skip
    run = run if isinstance(run, Run) else open_run(run)
    check_length(run.recipe.data.length, samples)
    torch.set_num_threads(run.recipe.train.threads)
    model = attention_in(run.model(which), "calibration").cpu()
    text = run.built.source.running_text
    if text and (right_only or rows == "digits"):
        wrong, other = ("right_only", "false") if right_only else ("rows digits", "all")
        raise TenfoldError(f"{run.folder} is a language model, which has no answers: {wrong} says nothing of it; {other} is right")  # fmt: skip
    stretches = list(_stretches(run, samples)) if text else []
    right = _right_tokens(model, stretches) if text else accuracy(run, checked, which)
    if right.value < ENOUGH and not allow_imperfect and not text:
        raise TenfoldError(
            f"{run.folder} is right on {right}, so its attention may be wrong; calibration needs {ENOUGH:.0%}. "
            "Train longer, or use --allow-imperfect"
        )
    problems = [] if text else list(_problems(run, samples, (13,)))
    batches = stretches if text else map(run.built.batcher, problems)
    averages = average(
        model, _counted(batches, samples, progress), scores, kind=lines, directions=every,
        right_only=right_only, own_answers=not text,
        digits=(torch.from_numpy(part.longest) for part in problems) if rows == "digits" else None,
    )  # fmt: skip
    heads, notes = find(averages, rules)
    size = run.recipe.model
    return Calibration(
        run=run.folder.resolve().name, kind=size.kind, layers=size.layers, heads_a_layer=size.heads, samples=samples, rules=rules,
        accuracy=right, interpolates=text or right.value >= ENOUGH, heads=tuple(heads), notes=tuple(notes), text=text,
    )  # fmt: skip


def directions_of(text: str) -> tuple[Direction, ...]:
    """
    >>> directions_of("diagonal,vertical")
    ('diagonal', 'vertical')
    """
    named = [name.strip() for name in text.split(",")]
    for name in named:
        if name not in STEPS:
            raise unknown("direction", name, STEPS)
    return tuple(direction for direction in STEPS if direction in named)


def accuracy(run: Run, n: int = CHECKED, which: Which = "best") -> Accuracy:
    """Exact match on problems that are drawn as in training: new ones, unless the training set is fixed."""
    examiner, right = run.built.examiner(), 0
    for part in _problems(run, n, (0, 12)):
        exact, _ = examiner.grade(run.answerer(which), part, run.recipe.data.length, "training")
        right += round(exact.value * len(part))
    low, high = wilson(right, n)
    return Accuracy(value=right / n, n=n, low=low, high=high)


def _problems(run: Run, n: int, stream: tuple[int, ...]) -> Iterator[Examples]:
    """Problems as in training, several of one length at a time. A stream of one number is that of the training batch."""
    rng, built = np.random.default_rng((run.recipe.seed, *stream)), run.built
    for start in range(0, n, PART):
        length = built.length_at(rng, run.recipe.data.length)
        yield built.batcher.task.sample(min(PART, n - start), length, rng, built.draw)


def _counted(
    batches: Iterable[Batch], n: int, progress: Callable[[int, int], None] | None
) -> Iterator[Batch]:
    """Batches, with a word after each on how many of the rows are done."""
    done = 0
    for batch in batches:
        yield batch
        done += len(batch)
        if progress is not None:
            progress(done, n)


STRETCHES = 32  # stretches of text at a time


def _stretches(run: Run, n: int) -> Iterator[Batch]:
    """Stretches of the training text, each as long as in training."""
    rng, length = np.random.default_rng((run.recipe.seed, 13)), run.recipe.data.length
    for start in range(0, n, STRETCHES):
        yield run.built.source.batch(min(STRETCHES, n - start), length, rng, None)


@torch.inference_mode()
def _right_tokens(model: AttentionModel, batches: Iterable[Batch]) -> Accuracy:
    """The share of tokens that were the likeliest after those before them."""
    model.eval()
    hits = [model(batch).argmax(-1) == batch.target for batch in batches]
    right, n = sum(int(hit.sum()) for hit in hits), sum(hit.numel() for hit in hits)
    low, high = wilson(right, n)
    return Accuracy(
        value=right / n, n=n, low=low, high=high, unit="next tokens of its training text"
    )


def with_lines(recipe: Recipe, calibration: Calibration, positions: Positions = "drop") -> Recipe:
    """The recipe with a calibration's lines in place of its encodings (`drop`), or in addition to them (`keep`)."""
    if positions not in get_args(Positions):
        raise unknown("choice of positions", positions, get_args(Positions))
    size = recipe.model
    calibration.check_fits(size.kind, size.layers, size.heads)
    lines = calibration.encoding()
    values = recipe.as_json()
    name = recipe.name if recipe.name.endswith("calibrated") else f"{recipe.name}-calibrated"
    if positions == "drop":
        changed = {"pe": lines, "encoder_pe": None, "cross_pe": None}
    else:
        over = {key: values[key] for key in ("pe", "cross_pe") if values[key] is not None}
        changed = {key: {"name": "compose", "parts": [value, lines]} for key, value in over.items()}
    return Recipe.of({**values, **changed, "name": name, "label": "calibrated"})
