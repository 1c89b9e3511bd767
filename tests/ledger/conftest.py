"""A paper that a test writes: a package below `tenfold.papers`, in the working folder of the test."""

import importlib
import sys

import pytest

import tenfold.papers


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """`paper("counting", text)` writes the experiment `tiny/counting`; gives the folder of the paper."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    places = [*tenfold.papers.__path__, str(tmp_path / "papers")]
    monkeypatch.setattr(tenfold.papers, "__path__", places)
    folder = tmp_path / "papers" / "tiny"

    def forget():
        for name in [name for name in sys.modules if name.startswith("tenfold.papers.tiny")]:
            del sys.modules[name]
        importlib.invalidate_caches()

    def write(name=None, text=""):
        forget()
        (folder / "experiments").mkdir(parents=True, exist_ok=True)
        for package in (folder, folder / "experiments"):
            (package / "__init__.py").touch()
        if name is not None:
            (folder / "experiments" / f"{name}.py").write_text(text)
        return folder

    yield write
    forget()
