"""Figures 9, 15 and 16 of the `symmetry` paper, and a table of the losses.

Lines show descent with the expected gradient. Dots of the same colour show the same descent on samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from matplotlib import colors, pyplot
from torch import Tensor

from tenfold.drawing.figures import save_files
from tenfold.drawing.palette import PALETTE
from tenfold.features.linear_attention.ring import Ring
from tenfold.features.linear_attention.ring_contest import BATCH, contest
from tenfold.features.linear_attention.ring_descent import LearnedWeights, sampled_loss

WORDS = {"absolute": "absolute", "augmented": "absolute, shifted windows", "relative": "relative"}
COLORS = dict(zip(WORDS, PALETTE, strict=False))
GREY = "#555555"
SAMPLES = 5000  # at every position, as in the paper


@dataclass(frozen=True)
class RingOutcome:
    """A model trained with the expected gradient and, where it was simulated, the same model trained on samples."""

    learned: LearnedWeights
    simulated: LearnedWeights | None = None
    measured: Tensor | None = None  # (N,): the simulated model's mean test loss over samples

    def as_json(self) -> dict[str, float]:
        """Losses per output: in training, and at test over all positions, inside the window and outside it."""
        window, losses = self.learned.problem.window, self.learned.by_position
        values = {
            "train_loss": self.learned.train_loss,
            "test_loss": self.learned.test_loss,
            "inside": float(losses[:window].mean()),
        }
        if window < len(losses):
            values["beyond"] = float(losses[window:].mean())
        if self.simulated is not None and self.measured is not None:
            values |= {
                "simulated_train_loss": self.simulated.train_loss,
                "simulated_test_loss": float(self.measured.mean()),
            }
        return values


def outcomes(
    ring: Ring, window: int, width: int, seed: int, steps: int, *, simulate: bool = False
) -> dict[str, RingOutcome]:
    """Train the three models."""
    results = {}
    for name, case in contest(ring, window, width, seed, steps).items():
        if simulate:
            generator = torch.Generator().manual_seed(seed)
            simulated = case.simulate(generator)
            measured = sampled_loss(simulated, SAMPLES, generator)
            results[name] = RingOutcome(case.learn(), simulated, measured)
        else:
            results[name] = RingOutcome(case.learn())
    return results


def write_figures(results: Mapping[str, RingOutcome], folder: Path) -> dict[str, Path]:
    """Write the figures `train`, `test` and `learned` as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {"train": _train(results), "test": _test(results), "learned": _learned(results)}
    return {name: save_files(figure, folder / name)[0] for name, figure in drawn.items()}


def _train(results: Mapping[str, RingOutcome]) -> Any:
    """Figures 9(a) and 15(a): the loss per output inside the window during training."""
    figure, axes = pyplot.subplots(figsize=(5.0, 3.4), layout="constrained")
    for name, outcome in results.items():
        color = COLORS[name]
        axes.plot(*_points(outcome.learned), color=color, label=WORDS[name], lw=1.7)
        if outcome.simulated is not None:
            axes.plot(*_points(outcome.simulated), ".", color=color, ms=4, zorder=3)
    axes.set_xscale("log")
    axes.set(xlabel="step", ylabel="training loss", yscale="log")
    return _framed(figure, axes, _dots(results, f"trained on {BATCH} samples a step"))


def _points(learned: LearnedWeights) -> tuple[list[int], list[float]]:
    """Steps and losses, from step 1 on because the axis of steps is logarithmic."""
    return [step for step, _ in learned.curve[1:]], [loss for _, loss in learned.curve[1:]]


def _test(results: Mapping[str, RingOutcome]) -> Any:
    """Figures 9(b) and 15(b): the loss at every position when all positions are filled."""
    figure, axes = pyplot.subplots(figsize=(5.0, 3.4), layout="constrained")
    problem = results["absolute"].learned.problem
    place = range(1, problem.ring.length + 1)
    axes.axvspan(0.5, problem.window + 0.5, color="#000000", alpha=0.06, lw=0)
    axes.axhline(problem.ring.power, color=GREY, lw=1, ls=":")
    limit = f"a model that says 0: {problem.ring.power:.4g}"
    axes.annotate(limit, (place[-1], problem.ring.power), (0, 4), textcoords="offset points",
                  fontsize=8, color=GREY, ha="right")  # fmt: skip
    for name, outcome in results.items():
        axes.plot(place, outcome.learned.by_position, color=COLORS[name], label=WORDS[name], lw=1.7)
        if outcome.measured is not None:
            axes.plot(place, outcome.measured, ".", color=COLORS[name], ms=4, zorder=3)
    axes.set(xlabel="position", ylabel="test loss", yscale="log", xlim=(0.5, place[-1] + 0.5))
    axes.set_ylim(top=4 * problem.ring.power)
    note = f"first {problem.window}: filled in training"
    return _framed(
        figure, axes, note + _dots(results, f"trained on samples, tested on {SAMPLES:,}")
    )


def _dots(results: Mapping[str, RingOutcome], what: str) -> str:
    return f"   dots: {what}" if any(each.simulated for each in results.values()) else ""


def _framed(figure: Any, axes: Any, note: str) -> Any:
    axes.annotate(note, (0.0, 1.03), xycoords="axes fraction", fontsize=8, color=GREY)
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def _learned(results: Mapping[str, RingOutcome]) -> Any:
    """Figure 16: the learned coefficient of input r in output i; for relative positions also by difference."""
    figure, panels = pyplot.subplots(2, 2, figsize=(7.2, 6.4), layout="compressed")
    ring = results["absolute"].learned.problem.ring
    shown = {
        "the task": ring.target(),
        **{WORDS[name]: results[name].learned.effective for name in ("absolute", "augmented")},
    }
    shades = _shades()
    for axes, (title, matrix) in zip(panels.flat, shown.items(), strict=False):
        image = axes.imshow(
            matrix.numpy(), cmap=shades, vmin=-ring.alpha, vmax=ring.alpha,
            extent=(0.5, ring.length + 0.5, ring.length + 0.5, 0.5),
        )  # fmt: skip
        axes.set(xlabel="input position", ylabel="output position")
        axes.set_title(title, fontsize=10, loc="left")
    figure.colorbar(image, ax=panels, fraction=0.04, shrink=0.5).ax.tick_params(labelsize=8)
    half = (ring.length - 1) // 2
    away = range(half - ring.length + 1, half + 1)
    order = torch.tensor([offset % ring.length for offset in away])
    taken = results["relative"].learned.effective[:, 0][order]  # output k from input 0
    axes = panels[1, 1]
    axes.plot(away, ring.coefficients()[order], "o", color=GREY, mfc="none", ms=5, label="the task")
    axes.plot(away, taken, ".-", color=COLORS["relative"], lw=1, ms=4, label="learned")
    axes.set(xlabel="output position less input position")
    axes.set_box_aspect(1)
    axes.set_title("relative", fontsize=10, loc="left")
    axes.grid(alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _shades() -> Any:
    return colors.LinearSegmentedColormap.from_list("signed", [PALETTE[1], "#FFFFFF", PALETTE[0]])


def table(results: Mapping[str, RingOutcome]) -> list[str]:
    """A table with one line for each model: losses per output."""
    values = {WORDS[name]: outcome.as_json() for name, outcome in results.items()}
    columns = list(next(iter(values.values())))
    first = max(map(len, values))
    lines = [" " * first + "".join(f"  {name.replace('_', ' '):>20}" for name in columns)]
    for name, losses in values.items():
        lines.append(f"{name:{first}}" + "".join(f"  {losses[key]:>20.3g}" for key in columns))
    return lines
