"""How many files of the package a command passes through: a reader of its path opens no more."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Counts the files that have a function called, after every module was imported. Worker processes are not counted.
COUNT = """
import importlib, json, pkgutil, sys, threading
from pathlib import Path
import tenfold
from tenfold.cli.app import main

for module in pkgutil.walk_packages(tenfold.__path__, "tenfold."):
    if not module.name.endswith("__main__") and not module.name.startswith("tenfold.papers"):
        importlib.import_module(module.name)
root, seen = str(Path(tenfold.__file__).parent), set()

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and not code.co_name.startswith("<") and code.co_filename.startswith(root):
        seen.add(code.co_filename)

out = sys.argv.pop(1)
threading.setprofile(note)
sys.setprofile(note)
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    sys.setprofile(None)
    files = sorted(str(Path(name).relative_to(root)) for name in seen)
    Path(out).write_text(json.dumps(files))
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "most"),
    [
        ("train symmetry/addition-relative --scale smoke", 42),
        ("certify addition", 52),
        ("reproduce bias/calibration --scale smoke --workers 1", 73),  # 71, or 72 beside other work
    ],
)
def test_files_on_the_way(command, most, tmp_path):
    words = [sys.executable, "-c", COUNT, str(tmp_path / "files.json"), *command.split()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    files = json.loads((tmp_path / "files.json").read_text())
    assert 10 < len(files) <= most, f"{len(files)} files: {' '.join(files)}"


def test_the_page_on_architecture_names_files_that_exist():
    page = (ROOT / "docs/architecture.md").read_text()
    names = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", page)) - {"tests/test_imports.py"}
    assert len(names) > 20
    known = (ROOT / "src/tenfold", ROOT)
    assert [name for name in sorted(names) if not any((at / name).is_file() for at in known)] == []
