"""Noise in labels: some digits of true answers replaced by others, to see what training on imperfect data does.

A share of 0.1 writes one answer digit in ten wrongly: 12+345 -> 317. Questions stay as they are, and so does how long an
answer is. Training alone sees it; what is measured is always the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.task import Examples, Ints


@dataclass(frozen=True)
class Noise:
    """Each digit of an answer becomes another of these `symbols` with the probability `share`.

    >>> from tenfold.data.tasks.arithmetic.comparison import Comparison
    >>> task, rng = Comparison(), np.random.default_rng(0)
    >>> noise = Noise.among(task.sample(1000, 5, rng), share=0.5)
    >>> "".join(task.vocabulary.symbols[symbol] for symbol in noise.symbols)
    '=<>'
    >>> spoilt = noise(task.parse("1234567?1234560"), rng)
    >>> task.question(spoilt, 0), task.truth(spoilt, 0)  # >>>>>>> would be right
    ('1234567?1234560', '>>=><><')
    """

    share: float
    symbols: Ints  # token numbers, in order

    @classmethod
    def among(cls, examples: Examples, share: float) -> Noise:
        """Among the symbols that the answers of these examples are made of: digits, verdicts, tags."""
        inside = np.arange(examples.answer.shape[1]) < examples.answer_length[:, None]
        symbols = np.unique(examples.answer[inside]).astype(np.int64)
        if len(symbols) < 2:
            raise TenfoldError(
                f"noise of {share:g} in answers that are all of one symbol; none could stand for it, so leave noise at 0"
            )
        return cls(share, symbols)

    def __call__(self, examples: Examples, rng: np.random.Generator) -> Examples:
        answer = examples.answer
        inside = np.arange(answer.shape[1]) < examples.answer_length[:, None]
        wrong = inside & (rng.random(answer.shape) < self.share)
        place = np.searchsorted(self.symbols, answer).clip(max=len(self.symbols) - 1)
        other = (place + rng.integers(1, len(self.symbols), answer.shape)) % len(self.symbols)
        return replace(
            examples, answer=np.where(wrong, self.symbols[other], answer).astype(answer.dtype)
        )
