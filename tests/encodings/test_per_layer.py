import pytest
import torch
from torch.testing import assert_close

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import Tokens
from tenfold.data.places import Places
from tenfold.encodings import ENCODINGS, SIZES, Compose, NoPE, PerLayer
from tenfold.models import Shape
from tenfold.models.stack import Encodings, Stack
from tenfold.runs.changed_recipe import given

LOCAL = {"name": "compose", "parts": ["rotary", {"name": "window", "behind": 2}]}
SHAPE = Shape(layers=5, width=16, heads=2)


def stack_of(spec, layers=5):
    torch.manual_seed(0)
    shape = Shape(layers=layers, width=16, heads=2)
    made = ENCODINGS.factory(Spec.model_validate(spec), SIZES)
    return Stack(11, shape, made, causal=True).double().eval()


def names(stack):
    return [stack.encodings[layer].now.name for layer in range(5)]


def test_layers_take_turns():
    stack = stack_of({"name": "per-layer", "parts": ["none", LOCAL, LOCAL]})
    assert names(stack) == ["none", "compose", "compose", "none", "compose"]
    at = Places(index=torch.arange(6)[None])
    for layer in range(5):
        seen = stack.encodings[layer].visible(at, at)
        assert (seen is None) == (layer in (0, 3))
        if seen is not None:
            for i in range(6):
                assert seen[0, 0, i].tolist() == [abs(i - j) <= 2 for j in range(6)]


def test_one_part_is_that_encoding(normal):
    """In all layers: the same weights, the same result."""
    tokens = Tokens(torch.randint(11, (2, 7)), Places(index=torch.arange(7)[None]), None)
    for part in ("alibi", "rotary", "fox", "kerple-log", "t5"):
        alone, layered = stack_of(part), stack_of({"name": "per-layer", "parts": [part]})
        values = list(alone.state_dict().values())
        assert len(layered.state_dict()) == len(values)
        layered.load_state_dict(dict(zip(layered.state_dict(), values, strict=True)))
        assert_close(layered(tokens), alone(tokens))


def test_by_hand_layer_by_layer():
    """A stack with two parts is its blocks with these encodings in turn."""
    stack = stack_of({"name": "per-layer", "parts": ["alibi", LOCAL]})
    at = Places(index=torch.arange(7)[None])
    tokens = Tokens(torch.randint(11, (2, 7)), at, None)
    expected = stack(tokens)
    alibi, local = (stack_of(part).encodings[0] for part in ("alibi", LOCAL))
    for layer in range(5):
        stack.encodings.each[layer] = (alibi, local)[layer % 2]
    assert_close(stack(tokens), expected)


def test_every_layer_has_the_weights_of_its_own_part_alone():
    stack = stack_of({"name": "per-layer", "parts": ["cope", "fox", "none"]})
    kept = [sorted(name.split(".")[-1] for name, _ in stack.encodings[n].named_parameters()) for n in range(5)]  # fmt: skip
    assert kept == [["table"], ["bias", "weight"], [], ["table"], ["bias", "weight"]]


@pytest.mark.parametrize(
    "part", ["kerple-log", {"name": "compose", "parts": ["kerple-log", "fox"]}]
)
def test_what_layers_share_they_share_here(part):
    """Kerple's p and a: once for the layers of each part, in the state of the first of them."""
    stack = stack_of({"name": "per-layer", "parts": ["none", part, "kerple-log"]})
    owned = [name for name, _ in stack.encodings.named_parameters() if name.endswith(".p")]
    assert [name.split(".")[1] for name in owned] == ["1", "2"]
    with torch.no_grad():
        for name, parameter in stack.encodings.named_parameters():
            if name.startswith("each.1.") and name.endswith(".p"):
                parameter.fill_(7.0)
    at = Places(index=torch.arange(3)[None])
    assert_close(stack.encodings[4].bias(at, at), stack.encodings[1].bias(at, at))
    assert not torch.allclose(stack.encodings[2].bias(at, at), stack.encodings[1].bias(at, at))


def test_declarations_are_those_of_all_parts_where_the_model_asks_once():
    """Axes, limits and checks: a stack asks its first layer for all."""
    pairs = {"name": "pairwise", "relation": {"name": "relative", "reach": 4, "axis": "column"}}
    stack = stack_of({"name": "per-layer", "parts": ["none", pairs]})
    first = stack.encodings[0]
    assert first.axes == {"column"}
    at = Places(index=torch.arange(9)[None], column=torch.arange(9)[None])
    with pytest.raises(TenfoldError, match=r"spans|reaches"):
        stack(Tokens(torch.zeros(1, 9, dtype=torch.long), at, None))
    with pytest.raises(TenfoldError, match='reads the axis "column"'):
        stack(Tokens(torch.zeros(1, 3, dtype=torch.long), Places(index=torch.arange(3)[None]), None))  # fmt: skip


def test_windows_and_labels():
    both = PerLayer([{"name": "window", "behind": 2}, {"name": "window", "behind": 5}])
    assert both.window("index").behind == 5
    both.in_layer(2)
    assert both.window("index").behind == 2
    swan = {"name": "per-layer", "parts": ["none", LOCAL]}
    recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
    assert given(recipe.replace(pe=swan)) == "generic"  # some layer sees everything
    assert given(recipe.replace(pe=LOCAL)) == "window"


def test_inside_a_composition(line):
    pe = Compose([{"name": "per-layer", "parts": ["none", LOCAL]}, "alibi"], heads=2, head_size=8)
    at = line(*range(4))
    for layer, sees_all in ((0, True), (1, False), (2, True)):
        pe.in_layer(layer)
        assert (pe.visible(at, at) is None) == sees_all
        assert pe.bias(at, at) is not None


def test_where_nothing_attends():
    make = ENCODINGS.factory(Spec.model_validate({"name": "per-layer", "parts": ["alibi"]}), SIZES)
    assert isinstance(Encodings(make, Shape(layers=0, width=16, heads=2), "causal")[0], NoPE)


def test_what_enters_at_the_input():
    with pytest.raises(TenfoldError, match='"learned" enters at the input, before the first layer; compose it'):  # fmt: skip
        PerLayer(["none", "learned"], width=16)
