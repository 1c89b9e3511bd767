"""An adder without weights, that looks back as far as it is told."""

import numpy as np
import pytest
import torch


class Oracle:
    """Adds the numbers of an in-place question, but looks only `back` columns back for a carry."""

    def __init__(self, frame, back=99, pad=10):
        self.frame, self.back, self.pad = frame, back, pad

    def answer(self, batch):
        tokens = batch.sequence.tokens.numpy()
        sides = tokens[:, : self.frame][:, ::-1], tokens[:, self.frame + 1 :][:, ::-1]
        held = np.maximum(*((side != self.pad).sum(1) for side in sides))
        sums = sum(np.where(side == self.pad, 0, side) for side in sides)
        sums = np.pad(sums, ((0, 0), (0, 1)))
        said = np.full_like(sums, self.pad)
        for row, column in np.ndindex(sums.shape):
            carry = 0
            for below in range(max(0, column - self.back), column):
                carry = int(sums[row, below] + carry >= 10)
            digit = (sums[row, column] + carry) % 10
            if column < held[row] or (column == held[row] and digit):
                said[row, column] = digit
        return torch.from_numpy(said[:, ::-1].copy())


@pytest.fixture
def adder():
    """`adder(6, back=2)`: for questions in a frame of 6."""
    return Oracle
