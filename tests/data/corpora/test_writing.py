"""Text as tokens, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("tokenizers")

from tenfold.core.errors import TenfoldError
from tenfold.data.corpora import WRITINGS
from tenfold.data.corpora.tokenizers import BPE, END, Bytes, Characters

TRAINING = ["def f(x):\n    return x + 1\n", "straße, naïve, 東京\n" * 20, "return return\n"]


def learned(writing):
    writing.know(writing.learn(iter(TRAINING)))
    return writing


ALL = {"bytes": learned(Bytes()), "characters": learned(Characters(64)), "bpe": learned(BPE(300))}


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_bytes_and_pieces_tell_any_text(text):
    for writing in (ALL["bytes"], ALL["bpe"]):
        ids = writing.ids(text)
        assert writing.text(ids) == text
        assert ids.dtype == writing.dtype
        assert END not in ids
        assert (ids < writing.size).all()
        assert writing.widths()[ids].sum() == len(text.encode())


def test_known_characters_come_back_and_others_are_told_to_be_unknown():
    writing = ALL["characters"]
    assert writing.text(writing.ids("return 東x")) == "return 東x"
    assert writing.ids("Ω").tolist() == [1]
    assert writing.text(np.array([1])) == "\ufffd"


def test_the_commonest_characters_are_kept():
    writing = Characters(size=4)
    assert writing.learn(["aaabbc", "b", "d"]) == "ab"


def test_pieces_are_shorter_than_bytes():
    text = TRAINING[1]
    assert len(ALL["bpe"].ids(text)) < len(text.encode()) / 2


def test_pieces_are_learned_the_same_way_twice():
    assert BPE(300).learn(iter(TRAINING)) == BPE(300).learn(iter(TRAINING))


@pytest.mark.parametrize("name", WRITINGS.names())
def test_the_end_of_a_document_is_shown(name):
    assert ALL[name].text(np.array([END], dtype=np.uint16)) == "\f"
    assert ALL[name].widths()[END] == 0


@pytest.mark.parametrize(
    "spec", [{"name": "bpe", "size": 100}, {"name": "characters", "size": 2}, {"name": "byte"}]
)
def test_what_is_refused(spec):
    with pytest.raises(TenfoldError):
        WRITINGS.build(spec)
