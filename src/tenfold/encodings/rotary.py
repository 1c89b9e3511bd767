"""Rotary positions (RoPE, Su et al. 2021): queries and keys turned by angles proportional to their place."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding
from tenfold.encodings.exact_angles import exactly, rounded


class Rotary(PositionalEncoding):
    """Component pairs (c, c + R/2) of the first R of K turn by i / base^(2c/R); no place does not turn.

    R is the given share of the head size, so `share=0.5` turns half of it (partial rotation). Of its R/2
    frequencies only the highest `p` turn; the lowest do not rotate and carry no position (p-RoPE, Barbero et
    al. 2025, arXiv 2410.06205). `p=1` is RoPE.

    With `trained`, the number of positions in training, a pair turns only if it completes a turn within them.
    The other pairs carry no position, so no angle is new on longer inputs. This is HoPE (Chen et al. 2025,
    arXiv 2410.21216), which keeps high frequencies alone; one full turn is our reading of its cut-off.

    >>> at = Places(index=torch.arange(3)[None])
    >>> q = torch.ones(1, 1, 3, 4)
    >>> turned, _ = Rotary(head_size=4).rotate(q, q, at, at)
    >>> torch.equal(turned[:, :, 0], q[:, :, 0])
    True
    >>> Rotary(head_size=8, p=0.5).rates(torch.device("cpu")).tolist()
    [1.0, 0.1, 0.0, 0.0]
    >>> Rotary(head_size=8, trained=100).rates(
    ...     torch.device("cpu")
    ... ).tolist()  # 2 pi / 0.1 = 63 positions
    [1.0, 0.1, 0.0, 0.0]
    """

    name = "rotary"
    known_as: ClassVar[tuple[str, ...]] = ("RoPE", "p-RoPE", "HoPE")
    shared = True
    shift_invariant = True

    def __init__(
        self,
        head_size: PositiveInt,
        base: PositiveFloat = 10_000.0,
        share: float = 1.0,
        axis: str = "index",
        p: float = 1.0,
        trained: PositiveInt | None = None,
    ) -> None:
        super().__init__(axis)
        self.axis, self.base, self.slowest = axis, base, 0.0
        self.turned = int(head_size * share) // 2 * 2
        if not 0 < share <= 1 or self.turned == 0:
            raise TenfoldError(
                f"a share of {share} of {head_size} components is turned; above 0, at most 1, and at "
                "least 2 components are right"
            )
        self.frequencies = int(p * self.turned / 2 + 1e-9)  # that turn: the highest
        if not 0 < p <= 1 or self.frequencies == 0:
            raise TenfoldError(
                f"p is {p}, the share of {self.turned // 2} frequencies that turn; above 0, at most 1, and at "
                "least one frequency is right; without any it is the encoding none"
            )
        if trained is not None:
            self.slowest = 2 * math.pi / trained
            if not bool(Rotary.rates(self, torch.device("cpu")).any()):
                raise TenfoldError(
                    f"rotary with trained {trained}: no frequency completes a turn within so many positions; at "
                    "least 7 is right, or no `trained`"
                )

    @classmethod
    def examples(cls, room: int) -> list[dict[str, Any]]:
        return [{}, {"share": 0.5, "base": 100.0}, {"p": 0.5}, {"trained": 100}]

    def rates(self, device: torch.device) -> Tensor:
        """How far each pair of components turns from one place to the next, (R/2,), the fastest first."""
        pair = torch.arange(self.turned // 2, device=device, dtype=torch.float64)
        rates = self.base ** (-2 * pair / self.turned)
        return torch.where((pair < self.frequencies) & (rates >= self.slowest), rates, 0.0)

    def rotate(self, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> tuple[Tensor, Tensor]:
        return self.turn(q, q_at[self.axis]), self.turn(k, k_at[self.axis])

    def turn(
        self, x: Tensor, place: Tensor, size: Tensor | None = None, rates: Tensor | None = None
    ) -> Tensor:
        """(B, H, T, K) at places (B|1, T); turned components also grow to a size (B|1, T, R/2).

        `rates` (B|1, T, R/2) are those of each token, where they differ from token to token.
        """
        half = self.turned // 2
        place = exactly(place.clamp(min=0))
        rates = self.rates(place.device) if rates is None else rates
        angle = place.unsqueeze(-1) * rates  # float64: exact far away
        waves = [angle.cos(), angle.sin()]
        if size is not None:
            waves = [wave * size for wave in waves]
        cos, sin = (rounded(wave, x).unsqueeze(1) for wave in waves)  # (B|1, 1, T, R/2)
        a, b, rest = x.split([half, half, x.shape[-1] - 2 * half], -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)
