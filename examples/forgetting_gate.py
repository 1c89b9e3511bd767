"""One's own encoding, in one file: a gate of every token says how much of what lies before it is kept.

tenfold league enter examples/forgetting_gate.py --track addition
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tenfold.data.places import Places
from tenfold.encodings import Attends, PositionalEncoding


class ForgettingGate(PositionalEncoding):
    """bias(i, j) = sum over l = j+1..i of log sigmoid(w.x_l + b), with w and b learned for each head.

    Gates start near 1, so that a new model forgets little; `start` is the value of b before training.
    """

    name = "forgetting-gate"
    kinds = frozenset({Attends.CAUSAL})  # the sum runs in the order of the tokens
    reads_keys = True  # what is added for a pair depends on the tokens between
    shift_invariant = True  # a promise that the laws check
    features = 1  # one number for each key and head

    def __init__(self, width: int, heads: int, start: float = 3.0) -> None:
        super().__init__("index")
        self.gate = nn.Linear(width, heads)
        nn.init.constant_(self.gate.bias, start)

    def state(self, x: Tensor, at: Places) -> Tensor:
        kept = F.logsigmoid(self.gate(x))  # (B, S, H)
        padding = (at["index"] < 0).unsqueeze(-1)
        return kept.masked_fill(padding, 0.0).mT.unsqueeze(-1)  # (B, H, S, 1)

    def state_bias(self, state: Tensor, q: Tensor, k: Tensor, q_at: Places, k_at: Places) -> Tensor:
        total = state.squeeze(-1).cumsum(-1, dtype=torch.promote_types(state.dtype, torch.float32))
        return total[..., -q.shape[2] :, None] - total[..., None, :]  # (B, H, T, S)
