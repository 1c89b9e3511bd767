import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import Attends, CoPE


@pytest.fixture
def pe():
    """Every row of the table matters."""
    return lively(CoPE(head_size=6, positions=4))


def lively(pe):
    torch.manual_seed(0)
    with torch.no_grad():
        pe.table.normal_()
    return pe.double()


def added(pe, q, k, i, j, counted):
    """What CoPE adds to the logit of query i and key j: q.e[p], p = sum of the gates of counted keys m >= j."""
    gates = [
        1 / (1 + math.exp(-float(q[i] @ k[m]) / math.sqrt(len(q[i]))))
        for m in range(j, len(k))
        if counted(m)
    ]
    p = min(sum(gates), pe.positions - 1)
    low, high = math.floor(p), math.ceil(p)
    return (p - low) * (q[i] @ pe.table[high]) + (1 - (p - low)) * (q[i] @ pe.table[low])


def test_by_loops(pe, normal, line):
    """The paper adds q.e[p] to q.k / sqrt(K); a score is added before the division."""
    q, k, at = normal(2, 3, 7, 6), normal(2, 3, 7, 6), line(*range(7))
    scores = pe.scores(q, k, at, at) / math.sqrt(6)
    beyond = 0
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 3, 7))).tolist():
        for j in range(i + 1):
            expected = added(pe, q[b, h], k[b, h], i, j, lambda m, i=i: m <= i)
            assert_close(scores[b, h, i, j], expected)
    for b, h in ((0, 0), (1, 2)):  # some counts do reach the end of the table
        beyond += torch.sigmoid(q[b, h, 6] @ k[b, h].mT / math.sqrt(6)).sum() > 3
    assert beyond


def test_gaps_and_missing_places_and_rows_that_differ(pe, normal):
    """What has no place is not counted."""
    places = torch.tensor([[0, -1, 5, 6], [-1, -1, 2, 900]])
    q, k, at = normal(2, 1, 4, 6), normal(2, 1, 4, 6), Places(index=places)
    scores = pe.scores(q, k, at, at) / math.sqrt(6)
    for b in range(2):
        for i in range(4):
            for j in range(i + 1):
                counted = lambda m, b=b, i=i: min(places[b, m], places[b, i]) >= 0 and m <= i  # noqa: E731
                assert_close(scores[b, 0, i, j], added(pe, q[b, 0], k[b, 0], i, j, counted))


def test_the_last_queries_alone(pe, normal, line):
    """As in decoding with a cache."""
    q, k, at = normal(1, 2, 6, 6), normal(1, 2, 6, 6), line(*range(6))
    assert_close(pe.scores(q[:, :, 4:], k, at.last(2), at), pe.scores(q, k, at, at)[:, :, 4:])


def test_open_gates_count_tokens(line):
    """Keys that a query counts fully are at whole positions 1, 2, ...; those it ignores do not count."""
    pe, at = lively(CoPE(head_size=4, positions=8)), line(*range(4))
    q = torch.full((1, 1, 4, 4), 1.0, dtype=torch.float64)
    k = torch.full((1, 1, 4, 4), 100.0, dtype=torch.float64)
    k[:, :, 2] = -100.0
    scores = pe.scores(q, k, at, at)[0, 0, 3] / 2
    assert_close(scores, pe.table.sum(-1)[[3, 2, 1, 1]])


def test_later_tokens_are_not_counted(normal):
    """Also on an axis that falls along the text, as `column` does where the highest digit comes first."""
    pe, at = lively(CoPE(head_size=6, axis="column")), Places(column=torch.tensor([[2, 1, 0]]))
    q, k = normal(1, 1, 3, 6), normal(1, 1, 3, 6)
    other = k.clone()
    other[:, :, 2] += 1
    ahead = torch.ones(3, 3).triu(1).bool()
    first, second = (pe.scores(q, x, at, at).masked_fill(ahead, 0) for x in (k, other))
    assert_close(first[:, :, :2], second[:, :, :2])


def test_gradient_reaches_queries_keys_and_table(pe, normal, line):
    q, k, at = (
        normal(1, 1, 9, 6).requires_grad_(),
        normal(1, 1, 9, 6).requires_grad_(),
        line(*range(9)),
    )
    assert torch.autograd.gradcheck(lambda q, k: pe.scores(q, k, at, at), (q, k))
    pe.scores(q, k, at, at).sum().backward()
    assert (k.grad.abs().sum(-1) > 0).all()
    assert (pe.table.grad.abs().sum(-1) > 0).all()


def test_causal_attention_only(build):
    with pytest.raises(TenfoldError, match='"cope" is not made for two-way attention, only for causal'):  # fmt: skip
        build("cope").serve(Attends.TWO_WAY)


def test_options(build):
    with pytest.raises(TenfoldError, match='encoding "cope": positions is 0'):
        build("cope", positions=0)
