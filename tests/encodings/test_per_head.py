import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import (
    T5,
    ALiBi,
    Compose,
    HardALiBi,
    NoPE,
    Pairwise,
    PerHead,
    Relative,
    Rotary,
    Window,
)

RAGGED = torch.tensor([[0, 1, 2, 5, -1], [-1, 0, 1, 2, 3]])
AT = {  # rows that differ on both axes, or on one alone
    "both": Places(index=RAGGED, column=RAGGED // 2),
    "one": Places(index=RAGGED[:1], column=RAGGED // 2),
}


@pytest.fixture(params=AT)
def at(request):
    return AT[request.param]


def pairwise():
    torch.manual_seed(0)
    pe = Pairwise(head_size=8, relation=Relative(reach=9), values=True).double()
    with torch.no_grad():
        pe.value_table.normal_()
    return pe


PARTS = {  # with their heads, 7 in all
    "biases": ([T5(2).double(), NoPE(), ALiBi(4).double()], [2, 1, 4]),
    "axes": ([ALiBi(3).double(), NoPE(), ALiBi(3, axis="column").double()], [3, 1, 3]),
    "windows": ([Window(1), HardALiBi(3), Rotary(8)], [1, 3, 3]),
    "vectors": ([NoPE(), pairwise(), Rotary(8, share=0.5)], [3, 2, 2]),
    "composed": ([Compose([pairwise(), ALiBi(2), Window(1)]), ALiBi(5)], [2, 5]),
}


@pytest.mark.parametrize(("parts", "split"), PARTS.values(), ids=PARTS)
def test_each_part_on_its_own_heads(parts, split, at, normal):
    pe = PerHead(parts, heads=7, split=split)
    q, k, weights = normal(2, 7, 5, 8), normal(2, 7, 5, 8), normal(2, 7, 5, 5)
    outputs = {
        "q": pe.rotate(q, k, at, at)[0], "k": pe.rotate(q, k, at, at)[1],
        "scores": pe.scores(q, k, at, at), "bias": pe.bias(at, at),
        "visible": pe.visible(at, at), "values": pe.values(weights, at, at),
    }  # fmt: skip
    start = 0
    for part, heads in zip(parts, split, strict=True):
        own = slice(start, start + heads)
        own_q, own_k = part.rotate(q[:, own], k[:, own], at, at)
        alone = {
            "q": own_q, "k": own_k,
            "scores": part.scores(q[:, own], k[:, own], at, at), "bias": part.bias(at, at),
            "visible": part.visible(at, at), "values": part.values(weights[:, own], at, at),
        }  # fmt: skip
        for way, whole in outputs.items():
            if whole is None:
                assert alone[way] is None
            elif alone[way] is None:
                assert (whole[:, own] == (way == "visible")).all(), way
            else:
                assert_close(whole[:, own], alone[way].expand_as(whole[:, own]))
        start += heads
    assert start == 7


def test_nobody_says_anything(at, normal):
    pe, x = PerHead([NoPE(), NoPE()], heads=2), normal(2, 2, 5, 8)
    assert pe.scores(x, x, at, at) is pe.bias(at, at) is pe.visible(at, at) is None
    assert pe.values(x, at, at) is None


def test_equal_shares_unless_told(build):
    pe = build("per-head", parts=["t5", {"name": "alibi", "axis": "column"}])
    assert pe.split == [2, 2]
    assert pe.parts[0].table.shape == (32, 2)
    assert pe.parts[1].slopes.tolist() == [2**-4, 2**-8]
    assert pe.axes == pe.invariant == {"index", "column"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ["alibi", "none", "t5"]}, "4 heads do not divide into 3 parts; give a split"),
        ({"parts": ["alibi", "none"], "split": [1, 2]}, r"split of \[1, 2\] for 2 parts and 4 heads"),
        ({"parts": ["alibi", "none"], "split": [4]}, r"split of \[4\] for 2 parts"),
        ({"parts": ["alibi", "none"], "split": [0, 4]}, 'encoding "per-head": split.0 is 0'),
        ({"parts": ["alibi", "learned"]}, '"learned" enters at the input, .* compose it'),
        ({"parts": [{"name": "compose", "parts": ["sinusoidal"]}]}, '"compose" enters at the input'),
        ({"parts": []}, 'encoding "per-head": parts is '),
    ],
)  # fmt: skip
def test_options(build, options, message):
    with pytest.raises(TenfoldError, match=message):
        build("per-head", **options)
