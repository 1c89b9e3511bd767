"""What an encoding alone adds to the logits of a query, as a function of distance."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tenfold.data.places import Places
from tenfold.encodings.encoding import PositionalEncoding


@torch.no_grad()
def profile(pe: PositionalEncoding, *, heads: int, head_size: int, furthest: int = 256) -> Tensor:
    """The logit of a key 0..furthest places behind the query, minus the logit at distance 0: (heads, furthest + 1).

    Query and keys are one constant vector, so all differences come from the places. Keys with -inf are not seen. Learned
    parameters keep their current values. Every axis counts tokens, except the role, which is constant.

    >>> from tenfold.encodings import ALiBi
    >>> profile(ALiBi(heads=2), heads=2, head_size=4, furthest=2)[0].tolist()
    [0.0, -0.0625, -0.125]
    """
    count = torch.arange(furthest + 1)[None]
    at = Places(**dict.fromkeys(pe.axes | {"index"}, count)).add(role=torch.zeros_like(count))
    query_at = at.last(1)
    pe.check(query_at, at)
    width = heads * head_size
    x = torch.ones(1, furthest + 1, width)
    x = pe.embed(torch.zeros_like(x), at) if pe.embeds else x  # positions against positions
    k = x.view(1, furthest + 1, heads, head_size).transpose(1, 2)
    q = k[:, :, -1:]
    turned_q, turned_k = pe.rotate(q, k, query_at, at)
    logits = turned_q @ turned_k.mT  # (1, H, 1, S)
    scores = pe.scores(q, turned_k, query_at, at)
    if scores is not None:
        logits = logits + scores
    logits = logits / math.sqrt(head_size)
    bias, state, seen = pe.bias(query_at, at), pe.state(x, at), pe.visible(query_at, at)
    by_state = None if state is None else pe.state_bias(state, q, turned_k, query_at, at)
    for added in (bias, by_state):
        logits = logits if added is None else logits + added
    if seen is not None:
        itself = count[0] == furthest  # always seen
        logits = logits.masked_fill(~(seen | itself), -math.inf)
    behind = logits[0, :, 0].flip(-1)  # by distance
    return behind - behind[:, :1]
