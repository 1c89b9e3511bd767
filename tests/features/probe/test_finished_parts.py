"""Stored parts of a probe are used as they were computed, or not at all."""

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.features.probe.finished_parts import FinishedParts


def computed():
    return {"losses": torch.arange(6.0).reshape(2, 3), "count": torch.tensor(3)}


def never():
    raise AssertionError("it was computed again")


def test_a_finished_part_is_read_back(tmp_path):
    FinishedParts(tmp_path, {}).make("a", computed)
    again = FinishedParts(tmp_path, {}).make("a", never)
    assert all(torch.equal(again[name], value) for name, value in computed().items())


def test_any_changed_byte_is_noticed(tmp_path):
    parts = FinishedParts(tmp_path, {})
    parts.make("a", computed)
    path = parts.folder / "a.safetensors"
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(TenfoldError, match="remove it, or use --fresh"):
            parts.get("a")
    path.write_bytes(whole[:-1])
    with pytest.raises(TenfoldError, match="remove it, or use --fresh"):
        parts.get("a")
