"""Checkpoints are whole or not there."""

import errno
import json
import os
import shutil

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.files import write_atomically
from tenfold.training.checkpoint import Checkpoints


@pytest.fixture
def checkpoints(tmp_path):
    """Two checkpoints, of steps 1 and 2."""
    folder = Checkpoints(tmp_path / "checkpoints")
    for step in (1, 2):
        save(folder, step)
    return folder


def save(checkpoints, step):
    model = {"w": torch.full((3,), float(step)), "b": torch.arange(4)}
    checkpoints.save(step, {"model": model, "optimizer": {"0.m": torch.ones(2)}}, {"note": "x"})


def flip(path, at=None):
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_round_trip(checkpoints):
    newest = checkpoints.latest()
    assert newest.step == 2
    assert newest.state == {"note": "x", "step": 2}
    assert newest.tensors["model"]["w"].tolist() == [2.0] * 3
    assert newest.tensors["model"]["b"].dtype == torch.int64
    assert set(newest.tensors) == {"model", "optimizer"}


def test_never_been_one(tmp_path):
    assert Checkpoints(tmp_path / "none").latest() is None


def test_the_last_two_are_kept(checkpoints):
    for step in (30, 400):
        save(checkpoints, step)
    assert names(checkpoints.folder) == ["step-000000030", "step-000000400"]


FILES = ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"]


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", [cut, flip, empty, os.unlink])
def test_damage_falls_back_to_the_one_before(checkpoints, file, damage):
    damage(checkpoints.path(2) / file)
    with pytest.warns(UserWarning, match="skipped a damaged checkpoint, step-000000002"):
        newest = checkpoints.latest()
    assert newest.step == 1
    assert newest.tensors["model"]["w"].tolist() == [1.0] * 3


def test_any_byte_flipped_is_noticed(checkpoints):
    for file in FILES:
        path = checkpoints.path(2) / file
        whole = path.read_bytes()
        for at in range(0, len(whole), 7):
            flip(path, at)
            with pytest.warns(UserWarning, match="skipped a damaged checkpoint"):
                assert checkpoints.latest().step == 1
        path.write_bytes(whole)
    assert checkpoints.latest().step == 2


@pytest.mark.parametrize("manifest", ["[]", "3", "{}", '{"model.safetensors": 3}', "null"])
def test_a_manifest_that_is_none(checkpoints, manifest):
    (checkpoints.path(2) / "manifest.json").write_text(manifest)
    with pytest.warns(UserWarning, match="skipped a damaged checkpoint"):
        assert checkpoints.latest().step == 1


def test_none_valid(checkpoints):
    for step in (1, 2):
        cut(checkpoints.path(step) / "model.safetensors")
    with pytest.raises(TenfoldError, match=r"no valid checkpoint in .*step-000000002.*--fresh"):
        checkpoints.latest()


def test_a_damaged_one_is_written_again(checkpoints):
    flip(checkpoints.path(2) / "model.safetensors")
    save(checkpoints, 2)
    assert checkpoints.latest().step == 2
    assert names(checkpoints.folder) == ["step-000000001", "step-000000002"]


def test_what_is_left_of_a_crash_is_neither_read_nor_in_the_way(checkpoints):
    """Even from a process that had our number and was at the same step."""
    left = checkpoints.folder / f".writing-{os.getpid()}-step-000000003"
    other = checkpoints.folder / ".writing-1-step-000000009"
    for folder in (left, other):
        shutil.copytree(checkpoints.path(2), folder)
    assert checkpoints.latest().step == 2
    save(checkpoints, 3)
    assert names(checkpoints.folder) == ["step-000000002", "step-000000003"]
    assert checkpoints.latest().step == 3


def test_other_folders_are_left_alone(checkpoints):
    other = checkpoints.folder / "step-000000002-copy"
    shutil.copytree(checkpoints.path(2), other)
    save(checkpoints, 3)
    save(checkpoints, 4)
    assert checkpoints.latest().step == 4
    assert other.is_dir()


@pytest.fixture
def full_disk(monkeypatch):
    """`full_disk(3)`: the third file to be synced finds no space left, and so do all after it."""

    def fill(when):
        calls = iter(range(1, 10_000))
        sync = os.fsync

        def fsync(handle):
            if next(calls) >= when:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(handle)

        monkeypatch.setattr(os, "fsync", fsync)

    return fill


@pytest.mark.parametrize("when", range(1, 6))
def test_full_disk(checkpoints, full_disk, when, monkeypatch):
    full_disk(when)
    with pytest.raises(TenfoldError, match=r"cannot write a checkpoint .*No space left on device"):
        save(checkpoints, 3)
    assert names(checkpoints.folder) == ["step-000000001", "step-000000002"]
    assert checkpoints.latest().step == 2
    monkeypatch.undo()
    save(checkpoints, 3)
    assert checkpoints.latest().step == 3


def test_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TenfoldError, match=r"cannot write a checkpoint .*Not a directory"):
        save(Checkpoints(tmp_path / "file" / "checkpoints"), 1)


def test_write_atomically(tmp_path, full_disk, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, b"old")
    full_disk(1)
    with pytest.raises(TenfoldError, match=r"cannot write .*result\.json: No space left"):
        write_atomically(path, b"new")
    assert names(tmp_path) == ["result.json"]
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_write_atomically_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TenfoldError, match="Not a directory"):
        write_atomically(tmp_path / "file" / "result.json", b"")


def test_nothing_is_pickled(checkpoints):
    assert names(checkpoints.path(2)) == sorted(FILES)
    manifest = json.loads((checkpoints.path(2) / "manifest.json").read_text())
    assert set(manifest) == set(FILES) - {"manifest.json"}
