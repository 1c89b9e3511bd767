"""What is noted of the machine and of the source tree."""

import os
import subprocess

from tenfold.runs import environment


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True)


def test_the_commit_is_read_without_locks(tmp_path):
    """`git status` writes the index anew where it can; killed meanwhile, it would leave `index.lock` behind."""
    file = tmp_path / "file.py"
    file.write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    index = tmp_path / ".git" / "index"
    before = index.stat().st_ino, index.read_bytes()
    os.utime(file, (1, 1))  # the index is out of date
    assert environment._git(tmp_path, "status", "--porcelain") == ""
    assert (index.stat().st_ino, index.read_bytes()) == before
