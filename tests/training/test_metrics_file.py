"""The training curve after a crash: what the checkpoint had seen, or what is whole of it, and a word about the rest."""

import hashlib
import json

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.training.metrics_file import MetricsFile, parse_lines

LINES = [json.dumps({"step": step, "loss": 1.0}).encode() + b"\n" for step in range(1, 7)]
SEEN = b"".join(LINES[:4])  # by the checkpoint of step 4
KNOWN = hashlib.sha256(SEEN).hexdigest()


@pytest.fixture
def resumed(tmp_path):
    """`resumed(data)`: the file after a run goes on from step 4 with this in it."""

    def resume(data, sha256=KNOWN):
        path = tmp_path / "metrics.jsonl"
        path.write_bytes(data)
        with MetricsFile(path, 4, len(SEEN), sha256) as file:
            file.write({"step": 5, "loss": 2.0})
            size, known = file.secure()
        data = path.read_bytes()
        assert (size, known) == (len(data), hashlib.sha256(data).hexdigest())
        return [line["step"] for line in parse_lines(data, path)]

    return resume


@pytest.mark.parametrize("after", [b"", LINES[4], LINES[4][:7], bytes(9)])
def test_what_came_after_the_checkpoint_is_cut_without_a_word(resumed, after):
    assert resumed(SEEN + after) == [1, 2, 3, 4, 5]
    assert resumed(SEEN + after, sha256="") == [1, 2, 3, 4, 5]  # of version 0.1


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (SEEN[:-9], [1, 2, 3, 5]),
        (SEEN.replace(LINES[1], bytes(len(LINES[1]))), [1, 3, 4, 5]),
        (b"".join(LINES[:2]) + bytes(30), [1, 2, 5]),
        (b"", [5]),
    ],
)
def test_what_was_lost_is_said_and_torn_lines_are_removed(resumed, data, left):
    with pytest.warns(
        UserWarning, match=r"metrics.jsonl was damaged: of 100 bytes up to step 4, \d+"
    ):
        assert resumed(data) == left


def test_a_changed_digit_is_said(resumed):
    with pytest.warns(UserWarning, match="was damaged"):
        assert resumed(SEEN.replace(b"1.0", b"7.0", 1)) == [1, 2, 3, 4, 5]


def test_lines_that_are_no_metrics(tmp_path):
    with pytest.raises(TenfoldError, match="line 2 is of no step"):
        parse_lines(b'{"step": 1}\n[]\n', tmp_path)
