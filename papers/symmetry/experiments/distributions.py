"""How complex uniform sums and products are, and what the printed algorithms compute (Figures 13, 14; Algorithms 1, 2).

    tenfold reproduce symmetry/distributions

Closed form: distributions of cascades, of consecutive carries and of the levels of one-digit products are counted
exactly, column by column, at every scale. Where an exact count would be long (multipliers of 2 and 3 digits) problems
are drawn: those rows say how many (n) and give the 95% Wilson interval. The slice is "" for numbers of at most so
many digits, as in the paper, and "full" for numbers of exactly so many. Some seconds on one core.
"""

import numpy as np

from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.carries import consecutive_carries, longest_cascade
from tenfold.data.tasks.carry_levels import add, multiply, printed_addition, printed_multiplication
from tenfold.data.tasks.samplers import numbers
from tenfold.evals.statistics import wilson
from tenfold.features.complexity import complexity
from tenfold.features.complexity import complexity_figures as distributions

SHOWN = 10  # the longest run with a row of its own
DRAWN = {"smoke": (2_000, 200), "laptop": (200_000, 10_000), "paper": (1_000_000, 100_000)}


def measure(lab):
    many, some = DRAWN[lab.scale]
    for length in (5, 10, 20, 40, 50, 100, 200):
        for name in ("cascades", "carries"):
            for full in (False, True):
                shares = getattr(complexity, name)(length, full=full, most=SHOWN)
                yield from _shares(name, length, shares, slice="full" if full else "")
    for length in (5, 10, 20, 40):
        for full in (False, True):
            shares = complexity.levels(length, full=full, most=SHOWN)
            yield from _shares("levels", length, shares, slice="full" if full else "")
    rng = np.random.default_rng(0)
    yield from _drawn_sums(rng, many)
    yield from _drawn_products(rng, many)
    yield from _printed(rng, some)
    yield from _as_they_must_be(rng, some)


def draw(drawing):
    distributions.draw(drawing.rows, drawing.folder)


def _shares(name, length, shares, **more):
    for run, share in enumerate(shares):
        yield _row(name, length, f"exactly-{run}", share, **more)
    yield _row(name, length, "at-most-4", sum(shares[:5]), **more)


def _drawn_sums(rng, n):
    """The exact counts once more, by drawing."""
    for length in (5, 50):
        operands, _ = numbers(rng, n, length, 2, 10)
        for name, runs in (
            ("cascades", longest_cascade(operands)),
            ("carries", consecutive_carries(operands)),
        ):
            yield from _counts(name, length, runs, "drawn")


def _drawn_products(rng, n):
    """Multipliers of exactly 1 to 3 digits without 0, times uniform numbers."""
    for length in (5, 20):
        for digits in (1, 2, 3):
            value = rng.integers(10 ** (digits - 1), 10**digits, n)
            multiplier = (value[:, None] // 10 ** np.arange(digits) % 10).astype(np.uint8)
            operands, _ = numbers(rng, n, length, 1, 10)
            levels = multiply(multiplier, operands[:, 0]).levels
            yield from _counts("levels", length, levels, f"drawn-multiplier-{digits}")


def _counts(name, length, runs, slice):
    n, counts = len(runs), np.bincount(runs, minlength=SHOWN + 1).tolist()
    exactly = {f"exactly-{run}": counts[run] for run in range(SHOWN + 1)}
    for metric, count in {**exactly, "at-most-4": sum(counts[:5])}.items():
        low, high = wilson(count, n)
        yield _row(name, length, metric, count / n, slice=slice, n=n, low=low, high=high)


def _printed(rng, n):
    """The share of uniform problems that the printed steps get right; "mended" mends what looks like a misprint."""
    for length in (1, 2, 5, 10, 20):
        sums = Addition().sample(n, length, rng, numbers)
        products = Multiplication(multiplier=3).sample(n, length, rng, numbers)
        for slice, mended in (("uniform", False), ("mended", True)):
            right = sum(
                printed_addition(*pair, mended=mended) == answer
                for pair, answer in zip(sums.operands.tolist(), sums.answer.tolist(), strict=True)
            )
            yield _right("algorithm-1-printed", length, right, n, slice)
            right = 0
            for pair, few, answer in zip(
                products.operands.tolist(), products.lengths[:, 0].tolist(), products.answer.tolist(),
                strict=True,
            ):  # fmt: skip
                answered = printed_multiplication(pair[0][:few], pair[1][:length], mended=mended)
                right += answered == answer[: len(answered)] and not any(answer[len(answered) :])
            yield _right("algorithm-2-printed", length, right, n, slice)


def _as_they_must_be(rng, n):
    """As the algorithms must be: always right; levels of a sum are its longest cascade."""
    for length in (1, 2, 5, 10, 20):
        sums = Addition().sample(n, length, rng, numbers)
        ours = add(sums.operands)
        yield _right("algorithm-1", length, (ours.digits == sums.answer).all(1).sum(), n, "uniform")
        alike = ours.levels == longest_cascade(sums.operands)
        yield _row("algorithm-1", length, "levels-are-cascades", alike.mean(), n=n)
        products = Multiplication(multiplier=3).sample(n, length, rng, numbers)
        ours = multiply(products.operands[:, 0, :3], products.operands[:, 1, :length])
        answer = products.answer[:, : length + 3]
        yield _right("algorithm-2", length, (ours.digits == answer).all(1).sum(), n, "uniform")


def _right(name, length, right, n, slice):
    low, high = wilson(int(right), n)
    return _row(name, length, "exact", right / n, slice=slice, n=n, low=low, high=high)


def _row(name, length, metric, value, **more):
    return {"recipe": f"symmetry/{name}", "length": length, "metric": metric, "value": float(value), **more}  # fmt: skip
