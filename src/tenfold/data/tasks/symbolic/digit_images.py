"""Digit images: which digit does a generated image show? Patches of pixels are tokens, row by row; the answer is one digit.

Digits are drawn as strokes at any resolution, in a number of styles (size, place, slant, thickness), and some pixels
are flipped. A token is a patch of 2 x 2 pixels: 16 symbols, a (all dark) to p (all lit). 64 tokens are an image of 16 x
16 pixels, 256 tokens the same at twice the resolution. Other numbers are the first patches of the next larger square.

The true answer is the digit of the drawing, of all digits in all styles, that differs from the image in the fewest
pixels.

Shapes: L patches, S patches in a row, X styles of all digits, P pixels.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import exact
from tenfold.data.tasks.sequence import SequenceTask
from tenfold.data.tasks.task import Ints

Pixels = NDArray[np.float32]  # 1 where lit

PATCH = 2  # pixels on a side
STYLES = 32  # of each digit
ORIGINAL = 16  # pixels on a side of the image that a digit of fixed size is drawn for
STROKES = {  # corners of a line through the unit square: right, down
    "0": [(0.5, 0.0), (0.9, 0.25), (0.9, 0.75), (0.5, 1.0), (0.1, 0.75), (0.1, 0.25), (0.5, 0.0)],
    "1": [(0.2, 0.25), (0.55, 0.0), (0.55, 1.0)],
    "2": [(0.1, 0.25), (0.5, 0.0), (0.9, 0.25), (0.1, 1.0), (0.9, 1.0)],
    "3": [(0.1, 0.0), (0.9, 0.0), (0.45, 0.4), (0.9, 0.7), (0.5, 1.0), (0.1, 0.85)],
    "4": [(0.65, 1.0), (0.65, 0.0), (0.1, 0.65), (0.95, 0.65)],
    "5": [(0.9, 0.0), (0.15, 0.0), (0.15, 0.45), (0.6, 0.4), (0.9, 0.7), (0.5, 1.0), (0.1, 0.85)],
    "6": [(0.75, 0.0), (0.2, 0.4), (0.1, 0.75), (0.5, 1.0), (0.9, 0.75), (0.5, 0.5), (0.15, 0.65)],
    "7": [(0.1, 0.0), (0.9, 0.0), (0.4, 1.0)],
    "8": [
        (0.5, 0.47), (0.15, 0.25), (0.5, 0.0), (0.85, 0.25), (0.5, 0.47), (0.1, 0.75), (0.5, 1.0), (0.9, 0.75),
        (0.5, 0.47),
    ],
    "9": [(0.85, 0.35), (0.5, 0.5), (0.1, 0.25), (0.5, 0.0), (0.9, 0.25), (0.8, 0.6), (0.25, 1.0)],
}  # fmt: skip


class DigitImages(SequenceTask):
    """`noise` is the share of pixels that are flipped. With `grows: false` a longer input is not a finer image but a
    larger one: the digit keeps its pixels and stands anywhere in it.

    >>> task = DigitImages(noise=0.0)
    >>> examples = task.sample(1, 25, np.random.default_rng(2))
    >>> print(task.shown(examples.operands[0, 0][::-1]), task.truth(examples, 0))
    -----##---
    -----##---
    ----##----
    ---##-----
    ---####---
    ---##-##--
    ---#####--
    ----###---
    -----#----
    ---------- 6
    """

    name = "digit-images"
    usual_sampler = staticmethod(exact)

    def __init__(self, noise: float = 0.02, grows: bool = True) -> None:
        if not 0 <= noise < 0.5:
            raise TenfoldError(f"a noise of {noise}; at least 0 and below 0.5")
        super().__init__(2 ** (PATCH * PATCH), outputs="0123456789")
        self.noise, self.grows = noise, grows

    @property
    def counted(self) -> str:
        return "patches of the image"

    def answer_size(self, length: int) -> int:
        return 1

    def columns(self, length: int) -> list[int]:
        return [0]

    def answer(self, tokens: Ints) -> list[int]:
        pixels = pixels_of(tokens).ravel()  # (P,)
        drawings = drawn(len(tokens), self.grows)  # (X, P)
        different = drawings.sum(1) - 2 * drawings @ pixels  # but for the lit pixels of the image
        return [self.base + int(different.argmin()) // STYLES]

    def draw(self, rng: np.random.Generator, length: int) -> Ints:
        drawings = drawn(length, self.grows)
        chosen = drawings[rng.integers(len(drawings))]
        flipped = rng.random(chosen.shape) < self.noise
        bits = np.where(flipped, 1 - chosen, chosen).reshape(length, -1).astype(np.int64)
        return bits @ (1 << np.arange(bits.shape[1]))

    def shown(self, tokens: Ints) -> str:
        """The image of these patches, as lines of text."""
        side = side_of(len(tokens))
        patches = np.zeros((side * side, PATCH, PATCH))
        patches[: len(tokens)] = pixels_of(np.asarray(tokens, dtype=np.int64)).reshape(
            -1, PATCH, PATCH
        )
        rows = patches.reshape(side, side, PATCH, PATCH).swapaxes(1, 2).reshape(side * PATCH, -1)
        return "\n".join("".join("#" if lit else "-" for lit in row) for row in rows)


def side_of(length: int) -> int:
    """Patches in a row of an image of so many.

    >>> side_of(64), side_of(65)
    (8, 9)
    """
    return math.isqrt(length - 1) + 1


def pixels_of(tokens: Ints) -> Pixels:
    """The pixels of every patch: (L,) -> (L, P)."""
    return (tokens[:, None] >> np.arange(PATCH * PATCH) & 1).astype(np.float32)


@functools.lru_cache(maxsize=16)
def drawn(length: int, grows: bool) -> Pixels:
    """Every digit in every style, the first patches of each, digit after digit: (X, P)."""
    return patched(drawings(side_of(length) * PATCH, grows), length)


def drawings(size: int, grows: bool) -> NDArray[np.bool_]:
    """The same as images of so many pixels on a side: (X, size, size)."""
    rng = np.random.default_rng(0)  # the same styles at every resolution
    middle = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(middle, middle)  # of pixels: right, down
    digits = []
    for corners in STROKES.values():
        for _ in range(STYLES):
            high, narrow, right, down, slant, thick = rng.uniform(
                (0.6, 0.5, -0.5, -0.5, -0.15, 0.06), (0.8, 0.7, 0.5, 0.5, 0.15, 0.09)
            )
            wide = high * narrow
            place = np.array([right, down])
            if not grows and size > ORIGINAL:  # as many pixels as in the original
                share = ORIGINAL / size
                high, wide, thick = high * share, wide * share, thick * share
            box = np.array([wide, high])
            first = (1 - box) / 2 + place * (1 - box - 2 * thick)
            points = np.array(corners) * box + first
            points[:, 0] += slant * (0.5 - np.array(corners)[:, 1]) * high
            digits.append(_distance(x, y, points) < thick)
    return np.array(digits)


def _distance(x: NDArray[np.float64], y: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:  # fmt: skip
    """Of every pixel, how far the nearest point of a line through these points is."""
    nearest = np.full_like(x, np.inf)
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        dx, dy = bx - ax, by - ay
        along = (((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)).clip(0, 1)
        nearest = np.minimum(nearest, np.hypot(x - ax - along * dx, y - ay - along * dy))
    return nearest


def patched(images: NDArray[np.bool_], length: int) -> Pixels:
    """The pixels of the first patches of every image, patch by patch: (X, size, size) -> (X, P)."""
    count, size, _ = images.shape
    side = size // PATCH
    patches = images.reshape(count, side, PATCH, side, PATCH).swapaxes(2, 3)
    return patches.reshape(count, side * side, -1)[:, :length].reshape(count, -1).astype(np.float32)
