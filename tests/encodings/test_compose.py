import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.encodings import (
    ALiBi,
    Attends,
    Compose,
    Learned,
    NoPE,
    Pairwise,
    PerHead,
    Relative,
    Rotary,
    Sinusoidal,
    Window,
    XPos,
)

AT = Places(
    index=torch.tensor([[0, 1, 2, 5, -1], [-1, 0, 1, 2, 3]]),
    column=torch.tensor([[1, 0, -1, 1, 0], [-1, 0, -1, 0, 1]]),
)


def pairwise(axis="index"):
    pe = Pairwise(head_size=8, relation=Relative(reach=9, axis=axis), values=True).double()
    with torch.no_grad():
        pe.value_table.normal_()
    return pe


@pytest.fixture
def q(normal):
    return normal(2, 4, 5, 8)


def test_everything_adds_up(normal, q):
    """Embeddings, scores, biases and values are sums over the parts that have any."""
    torch.manual_seed(0)
    parts = [
        Learned(32, limit=9).double(), pairwise(), ALiBi(4), NoPE(),
        pairwise("column"), Sinusoidal(32), ALiBi(4, axis="column"),
    ]  # fmt: skip
    pe, x, k, w = Compose(parts), normal(2, 5, 32), normal(2, 4, 5, 8), normal(2, 4, 5, 5)
    assert_close(pe.embed(x, AT), parts[0].embed(x, AT) + parts[5].embed(x, AT) - x)
    assert_close(pe.scores(q, k, AT, AT), parts[1].scores(q, k, AT, AT) + parts[4].scores(q, k, AT, AT))  # fmt: skip
    assert_close(pe.bias(AT, AT), parts[2].bias(AT, AT) + parts[6].bias(AT, AT))
    assert_close(pe.values(w, AT, AT), parts[1].values(w, AT, AT) + parts[4].values(w, AT, AT))
    assert pe.visible(AT, AT) is None
    assert pe.rotate(q, k, AT, AT) == (q, k)


def test_windows_intersect():
    wide, narrow = Window(behind=3, ahead=0), Window(behind=0, axis="column")
    seen = Compose([NoPE(), wide, ALiBi(4), narrow]).visible(AT, AT)
    for b in range(2):
        for i in range(5):
            for j in range(5):
                both = wide.visible(AT, AT)[b, 0, i, j] and narrow.visible(AT, AT)[b, 0, i, j]
                assert seen[b, 0, i, j] == both
    assert 0 < seen.sum() < min(wide.visible(AT, AT).sum(), narrow.visible(AT, AT).sum())


def test_rotations_follow_one_another(q):
    first, second = Rotary(8, share=0.5), Rotary(8, base=7.0, axis="column")
    turned = Compose([first, second]).rotate(q, q + 1, AT, AT)
    assert_close(turned, second.rotate(*first.rotate(q, q + 1, AT, AT), AT, AT))


def test_nothing_of_nothing(q):
    pe = Compose([NoPE(), Learned(32)])
    assert pe.scores(q, q, AT, AT) is pe.bias(AT, AT) is pe.visible(AT, AT) is None
    assert pe.values(q, AT, AT) is None


def test_what_it_is_follows_from_its_parts():
    pe = Compose([Learned(32, limit=9), pairwise("column"), XPos(8)])
    assert pe.axes == {"index", "column"}
    assert pe.invariant == {"column"}  # learned positions read the index as such
    assert pe.limit == 9
    assert pe.kinds == {Attends.CAUSAL}
    assert not pe.shared
    assert Compose([Learned(32), ALiBi(4)]).shared
    assert (pe.embeds, pe.attends) == (True, True)
    assert (Compose([Learned(32)]).attends, Compose([ALiBi(4)]).embeds) == (False, False)


def test_parts_of_use():
    def kept(**ways):
        pe = Compose([Learned(32), pairwise(), Compose([Sinusoidal(32), ALiBi(4)])]).part(**ways)
        return pe and [type(part) for part in pe.parts]

    assert kept(embeds=True, attends=True) == [Learned, Pairwise, Compose]
    assert kept(embeds=False, attends=True) == [NoPE, Pairwise, Compose]
    assert kept(embeds=True, attends=False) == [Learned, NoPE, Compose]
    assert kept(embeds=False, attends=False) is None
    assert not Compose([Learned(32), ALiBi(4)]).part(embeds=False, attends=True).state_dict()


def test_checks_every_part(line):
    pe = Compose([ALiBi(4), Learned(32, limit=9), XPos(8)])
    pe.check(line(8), line(8))
    with pytest.raises(TenfoldError, match="end at 8, the input reaches 9"):
        pe.check(line(9), line(9))
    with pytest.raises(TenfoldError, match='"xpos" is not made for cross attention'):
        pe.serve(Attends.CROSS)


def test_by_name(build):
    inner = {"name": "per-head", "parts": ["t5", "rotary"]}
    pe = build("compose", parts=[{"name": "learned", "limit": 7}, inner, "none"])
    assert [type(part) for part in pe.parts] == [Learned, PerHead, NoPE]
    assert pe.parts[0].table.shape == (7, 32)
    assert pe.parts[1].parts[0].table.shape == (32, 2)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], 'encoding "compose": parts is '),
        (["alibbi"], 'unknown encoding "alibbi"; did you mean "alibi"'),
        ([{"name": "window", "behinds": 1}], 'unknown option of encoding "window" "behinds"'),
        ([{"name": "window", "behind": -1}], 'encoding "window": behind is -1'),
    ],
)
def test_options(build, parts, message):
    with pytest.raises(TenfoldError, match=message):
        build("compose", parts=parts)
