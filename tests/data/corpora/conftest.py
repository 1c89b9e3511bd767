"""A cache of its own for every test, and small folders of text."""

import pytest


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TENFOLD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def notes(tmp_path):
    """40 files, each with words of its own."""
    folder = tmp_path / "notes"
    for number in range(40):
        path = folder / f"{number % 4}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"note {number} says: {'word ' * number}and ends.\n" * 3)
    return folder
