"""Calibrated biases: lines without a length, against plain loops."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.places import Places
from tenfold.data.tasks import samplers
from tenfold.encodings import Attends, Calibrated
from tenfold.encodings.calibrated import UNSEEN
from tenfold.encodings.encoding import Span
from tenfold.models.locality import NotCertifiable, locality

MOVING = {"axis": "column", "offset": 0}


def line(keys, head=1, attention="cross", value=0.0, **more):
    return {"attention": attention, "head": head, "keys": keys, "value": value, **more}


def serving(lines, kind=Attends.CROSS, heads=2, layer=0, **options):
    pe = Calibrated(heads=heads, lines=lines, **options)
    pe.serve(kind)
    pe.in_layer(layer)
    return pe


def is_one(keys, role, column):
    """Whether a token is meant by a line's keys: the definition, one token at a time."""
    if keys.startswith("operand"):
        return role == 2 + int(keys.split()[1])
    start = role == 1 and column >= 0
    known = {"start": start, "answer": start or role == 2, "operator": role == 1 and column < 0}
    return {**known, "text": role == 0, "all": role >= 0}[keys]


def by_loops(lines, heads, kind, q_at, k_at):
    """The highest value of a head's lines through each pair, None off them; 0 in heads without lines."""
    rows = max(len(at[axis]) for at in (q_at, k_at) for axis in at)
    out = np.full((rows, heads, q_at.count, k_at.count), -np.inf)
    own = [line for line in lines if line["attention"] == kind]
    for b, h, t, s in np.ndindex(out.shape):
        mine = [line for line in own if line["head"] == h + 1]
        q, k = (
            {axis: int(at[axis][b % len(at[axis]), n]) for axis in at}
            for at, n in ((q_at, t), (k_at, s))
        )
        values = [0.0] if not mine else []
        for one in mine:
            on = is_one(one["keys"], k["role"], k["column"])
            if "axis" in one:
                places = q[one["axis"]], k[one["axis"]]
                on &= min(places) >= 0 and places[0] - places[1] == one["offset"]
            if "digit" in one:
                on &= k["significance"] == one["digit"]
            values += [one["value"]] if on else []
        out[b, h, t, s] = max(values, default=-np.inf)
    return torch.tensor(out)


LINES = [
    line("operand 1", **MOVING), line("operand 1", value=-0.5, axis="column", offset=2),
    line("operand 2", value=-0.25, axis="column", offset=-1), line("operator", value=-1.5),
    line("operand 1", value=-0.1, digit=0), line("all", head=2, value=-3.0), line("operand 2", head=2, **MOVING),
    line("answer", attention="causal", axis="index", offset=1, value=-0.75),
    line("answer", attention="causal", **MOVING), line("start", attention="causal", value=-2.0),
    line("operand 2", attention="causal", head=2, **MOVING),
]  # fmt: skip


@pytest.mark.parametrize("kind", [Attends.CAUSAL, Attends.CROSS])
def test_agrees_with_plain_loops(kind, make_batcher, ragged):
    batch = make_batcher("causal" if kind is Attends.CAUSAL else "seq2seq")(ragged)
    q_at = batch.sequence.places
    k_at = q_at if kind is Attends.CAUSAL else batch.source.places
    pe = serving(LINES, kind, heads=3, question="all")
    expected = by_loops(LINES, 3, kind, q_at, k_at)
    seen = pe.visible(q_at, k_at)
    assert torch.equal(seen, expected > -np.inf)
    assert torch.equal(pe.bias(q_at, k_at).double(), expected.float().double().clamp(min=UNSEEN))


def test_extends_to_any_length(make_batcher, task):
    """What a query sees of the columns about it is the same in a sum of three times the length."""
    pe = serving(
        [line("operand 1", **MOVING), line("operand 2", axis="column", offset=1, value=-1.0)],
        heads=1,
    )
    seen = {}
    for length in (4, 12):
        batch = make_batcher("seq2seq")(
            task.sample(1, length, np.random.default_rng(0), samplers.exact)
        )
        q_at, k_at = batch.sequence.places, batch.source.places
        bias, open_pairs = pe.bias(q_at, k_at)[0, 0], pe.visible(q_at, k_at)[0, 0]
        for t in range(q_at.count):
            seen[length, t] = {
                (int(k_at["role"][0, s]), t - int(k_at["column"][0, s])): float(bias[t, s])
                for s in open_pairs[t].nonzero()[:, 0].tolist()
            }
    for t in range(1, 4):
        assert seen[4, t] == seen[12, t] == seen[12, 11] == {(3, 0): 0.0, (4, 1): -1.0}


def test_a_query_off_its_lines_takes_nothing_or_itself(make_model, make_batcher, ragged):
    """Nobody's logits are nan: in cross-attention it takes nothing, in self-attention itself."""
    far = [
        line(keys, head, attention, axis="column", offset=50)
        for head in (1, 2)
        for attention, keys in (("causal", "answer"), ("cross", "operand 1"))
    ]
    model = make_model("seq2seq", {"name": "calibrated", "lines": far})
    batch = make_batcher("seq2seq")(ragged)
    assert model(batch).isfinite().all()
    changed = batch.source.tokens.clone().fill_(3)
    other = make_batcher("seq2seq")(ragged)
    other.source.tokens.copy_(changed)
    assert torch.equal(model(other), model(batch))


def test_questions_see_themselves_alone_in_a_decoder(make_batcher, ragged):
    at = make_batcher("causal")(ragged).sequence.places
    lines = [line("answer", attention="causal", layer=1, **MOVING)]
    asks = (at["column"] >= 0) & ((at["role"] == 1) | (at["role"] == 2))
    for layer in (0, 1):  # also where a layer has no lines
        seen = serving(lines, Attends.CAUSAL, layer=layer).visible(at, at)
        assert torch.equal(seen.any(1).any(-1), asks)
    assert serving(lines, Attends.CAUSAL, layer=1, question="all").visible(at, at) is None
    assert serving(lines, Attends.CROSS).visible(at, at) is None


def test_each_layer_has_its_own_lines(make_model):
    lines = [line("operand 1", layer=layer, **MOVING) for layer in (1, 2)]
    model = make_model("seq2seq", {"name": "calibrated", "lines": lines[1:]})
    assert [len(model.stack.cross_encodings[n].own) for n in (0, 1)] == [0, 1]
    assert not model.stack.encodings[0].own
    composed = {
        "name": "compose",
        "parts": ["sinusoidal", {"name": "calibrated", "lines": lines[1:]}],
    }
    model = make_model("seq2seq", composed)
    assert [len(model.stack.cross_encodings[n].parts[1].own) for n in (0, 1)] == [0, 1]
    assert Calibrated(heads=1, lines=[line("operand 1", **MOVING)]).shared


def near(attention="cross", heads=(1, 2)):
    keys = "operand 1" if attention == "cross" else "answer"
    return [line(keys, head, attention, axis="column", offset=head - 1) for head in heads]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (near(), Span(1, 0, 0)),
        ([*near(), line("operand 2", axis="column", offset=-2)], Span(1, 2, 0)),
        ([*near(), line("operand 2")], Span(1, 0, 0, frozenset({4}))),
        (near(heads=(1,)), None),  # a transparent head
        ([*near(), line("all", value=-3.0)], None),  # soft
        ([*near(), line("operator")], None),
        ([*near(), line("answer", axis="index", offset=1)], None),
    ],
    ids=["bounded", "ahead", "multiplier", "transparent", "soft", "operator", "by index"],
)
def test_which_lines_are_bounded(lines, expected):
    assert serving(lines).window("column") == expected


def test_self_attention_is_bounded_without_vertical_lines():
    lines = near("causal")
    assert serving(lines, Attends.CAUSAL).window("column") == Span(1, 0, 1)
    assert (
        serving([*lines, line("start", attention="causal")], Attends.CAUSAL).window("column")
        is None
    )


def test_certification_sees_the_lines(make_model):
    pe = {"name": "calibrated", "lines": [*near(), *near("causal")]}
    local = locality(make_model("seq2seq", pe, layers=1, encoder_layers=0))
    assert (local.columns, local.answers) == (1, 2)
    with pytest.raises(NotCertifiable, match="no window"):
        locality(make_model("seq2seq", {**pe, "lines": near()}, layers=1, encoder_layers=0))


def test_digits_are_of_the_roles_that_lines_name():
    assert Calibrated(heads=1, lines=[line("operand 2", digit=1)]).digits_of == {4}
    assert Calibrated(heads=1, lines=[line("operand 2")]).digits_of == frozenset()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (line("operands", **MOVING), 'no tokens are called "operands"; there are answer'),
        (line("operand 1", axis="column"), "an axis goes with an offset"),
        (line("start", **MOVING), 'a line to "start" or to one digit is vertical'),
        (line("operand 1", head=3), "head 3 of a model that has 2 heads"),
        (line("operand 1", value=float("-inf")), "finite number"),
    ],
)
def test_wrong_lines_are_one_clear_error(wrong, message):
    with pytest.raises(TenfoldError, match=message):
        Calibrated(heads=2, lines=[wrong])


def test_two_way_attention_has_no_lines():
    at = Places(role=torch.tensor([[3, 3]]), column=torch.tensor([[1, 0]]))
    pe = serving(LINES, Attends.TWO_WAY)
    assert pe.bias(at, at) is None
    assert pe.visible(at, at) is None
