import numpy as np
import pytest

from tenfold.data.tasks.task import Vocabulary, digits_of, significant


@pytest.mark.parametrize("base", [2, 10, 16])
def test_vocabulary(base):
    v = Vocabulary(base, "+")
    assert len(v) == base + 5
    assert v.ids(v.symbols).tolist() == list(range(len(v)))
    assert [v.symbols[i] for i in (v.pad, v.end, v.start, v.equals, v.operator)] == list("_;^=+")
    assert v.text(range(base)) == "0123456789abcdef"[:base]


def test_symbols_of_answers():
    v = Vocabulary(10, "?", extra="<>")
    assert v.ids("<=>").tolist() == [15, v.equals, 16]
    assert v.text([15, v.equals, 16, v.end]) == "<=>;"


def test_digits_of():
    assert digits_of("345", 10).tolist() == [5, 4, 3]
    assert digits_of("f0a", 16).tolist() == [10, 0, 15]


def test_significant():
    digits = np.array([[0, 0, 0], [5, 0, 0], [0, 5, 0], [0, 0, 1]], dtype=np.uint8)
    assert significant(digits).tolist() == [1, 1, 2, 3]
