from typing import Literal

import pytest
import torch
from pydantic import ValidationError

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Registry, Spec, name_of
from tenfold.data.places import Places
from tenfold.encodings import ENCODINGS, ALiBi, Compose, NoPE, PerHead, Relative, Rotary, Window
from tenfold.encodings import KerpleLog as Kerple


class Broken:
    """A component of another package, whose constructor fails."""

    name = "broken"

    def __init__(self, width: int) -> None:
        raise ValueError("no\nsuch width")


class Thing:
    name = "thing"

    def __init__(self, width: int, size: int = 3, kind: Literal["a", "b"] = "a") -> None:
        self.width, self.size, self.kind = width, size, kind


def two_words(x: int, *, times: int = 2) -> int:
    return x * times


def needs(x: int, *, much: int) -> int:
    return x + much


AT = Places(index=torch.arange(3)[None])
THINGS = Registry("thing", "tenfold.tests", of=(Thing, Broken))
VERBS = Registry("verb", "tenfold.tests", of=(two_words, needs))


@pytest.mark.parametrize("spec", ["alibi", {"name": "alibi"}, {"name": "alibi", "options": {}}])
def test_spec_from_a_name(spec):
    assert Spec.model_validate(spec) == Spec(name="alibi")


def test_spec_round_trip():
    for plain in ("alibi", {"name": "cyclic", "period": 3}):
        assert Spec.model_validate(plain).model_dump() == plain


def test_spec_without_a_name():
    with pytest.raises(ValidationError):
        Spec.model_validate({"period": 3})


def test_build_fills_in_what_the_caller_supplies():
    thing = THINGS.build(Spec(name="thing", options={"size": 5}), width=8, heads=2)
    assert (thing.width, thing.size, thing.kind) == (8, 5, "a")


def test_what_the_caller_supplies_is_not_an_option():
    with pytest.raises(
        TenfoldError, match='unknown option of thing "thing" "width"; known: kind, size'
    ):
        THINGS.factory(Spec(name="thing", options={"width": 5}), ("width",))


def test_unknown_name():
    with pytest.raises(TenfoldError, match='unknown thing "thin"; did you mean "thing"'):
        THINGS.build("thin")


def test_a_component_of_another_package_that_fails_is_one_line():
    with pytest.raises(TenfoldError, match=r'thing "broken" of \S+ cannot be built: ') as error:
        THINGS.build("broken", width=8)
    assert "ValueError: no such width (" in str(error.value)
    assert "\n" not in str(error.value)
    assert isinstance(error.value.__cause__, ValueError)  # a program sees where it was raised


def test_a_component_that_raises_what_is_no_exception_is_one_line(monkeypatch):
    def fail(self, width):
        raise BaseException("x")

    monkeypatch.setattr(Broken, "__init__", fail)
    with pytest.raises(TenfoldError, match="cannot be built: BaseException: x"):
        THINGS.build("broken", width=8)


def test_unknown_option():
    with pytest.raises(TenfoldError, match=r'unknown option .* "siez"; did you mean "size"'):
        THINGS.build(Spec(name="thing", options={"siez": 5}), width=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "many"}, "thing \"thing\": size is 'many'"),
        ({"kind": "c"}, "thing \"thing\": kind is 'c'; input should be 'a' or 'b'"),
    ],
)
def test_wrong_value(options, message):
    with pytest.raises(TenfoldError, match=message):
        THINGS.build(Spec(name="thing", options=options), width=1)


def test_bind():
    assert VERBS.names() == ["needs", "two-words"]
    assert VERBS.bind("two-words")(4) == 8
    assert VERBS.bind(Spec(name="two-words", options={"times": 3}))(4) == 12
    with pytest.raises(TenfoldError, match='verb "needs": much is missing'):
        VERBS.bind("needs")


def test_positional_parameters_of_a_function_are_no_options():
    with pytest.raises(TenfoldError, match='"x"; known: times'):
        VERBS.bind(Spec(name="two-words", options={"x": 3}))


def test_walks_a_package():
    registry = Registry("encoding", "tenfold.tests", package="tenfold.encodings")
    assert {"alibi", "none", "rotary"} <= set(registry.names())


def test_entry_points_add_components(monkeypatch):
    class Point:
        name = "foreign"

        def load(self):
            return Thing

    monkeypatch.setattr("tenfold.core.registry.entry_points", lambda group: [Point()])
    assert Registry("thing", "tenfold.tests").build("foreign", width=2).width == 2


def test_name_of():
    assert name_of(Thing) == "thing"
    assert name_of(two_words) == "two-words"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: ALiBi(heads=0), '"alibi": heads is 0; input should be greater than 0'),
        (lambda: ALiBi(heads=8, axs="index"), '"alibi": got an unexpected keyword argument'),
        (lambda: ALiBi(), '"alibi": heads is missing'),
        (lambda: Rotary(8, base=-2), '"rotary": base is -2; input should be greater than 0'),
        (lambda: Rotary(8, share=float("nan")), '"rotary": share is nan; .* finite'),
        (lambda: Rotary(8, share=2), "a share of 2.0 of 8 components"),
        (lambda: Window(behind=-1), '"window": behind is -1'),
        (lambda: Relative(reach=2.5), '"relative": reach is 2.5'),
        (lambda: Compose([]), '"compose": parts is \\[\\]; list should have at least 1 item'),
        (lambda: Compose([{"buckets": 3}], heads=2), "'buckets': 3} names no component"),
        (lambda: Compose(["alibi"]), 'encoding "alibi" needs heads; give it with the parts'),
        (lambda: PerHead([ALiBi(4), NoPE()], heads=4).bias(AT, AT), "is for 4 heads, its part .* is 2"),
        (lambda: Spec.of({"behind": 3}), "names no component; a name does"),
    ],
)  # fmt: skip
def test_constructors_check_what_they_are_given(made, message):
    """The same checks as a recipe's, in Python."""
    with pytest.raises(TenfoldError, match=message):
        made()


def test_a_factory_shares_no_module_between_what_it_makes():
    inner = Kerple(heads=2)
    make = ENCODINGS.factory(Spec(name="compose", options={"parts": [inner]}), ("heads",))
    first, second = make(heads=2), make(heads=2)
    assert first.parts[0].p is not second.parts[0].p
    assert torch.equal(first.parts[0].p, inner.p)


@pytest.mark.parametrize(
    ("name", "here"),
    [("NoPE", "none"), ("nope", "none"), ("absolute", "learned"), ("rope", "rotary")],
)
def test_a_name_from_a_paper_is_answered_with_the_name_here(name, here):
    with pytest.raises(TenfoldError, match=f'encoding "{name}" is called "{here}" here'):
        ENCODINGS.build(name, width=8, heads=2, head_size=4)
