"""Run every command and every Python example of Markdown files, each page in its own copy of the tree.

Blocks fenced as `sh` and `python` are run in order. Blocks fenced as `text` or `console` are not run.
Python, the README's commands, and those that start workers or need a shell are processes of their own. Every other
command runs in a fork of a process that has imported PyTorch, for that import takes longer than most commands.
"""

import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_A_SHELL = re.compile(r"[|&;<>$`*]")
WITH_WORKERS = {"sweep", "reproduce", "league"}  # commands that start processes
IMPORTED = ["torch", "torch._dynamo", "matplotlib.pyplot", "duckdb", "tenfold.runs.train"]
FORKS = multiprocessing.get_context("forkserver")
DONE_ALREADY = {"make test", "make test-all", "make check", "make peers"}  # CI has just run them


def main() -> None:
    pages = [ROOT / name for name in sys.argv[1:]]
    blocks = {page: BLOCK.findall(page.read_text()) for page in pages}
    if not any(blocks.values()):
        raise SystemExit("there are no commands to run")
    os.environ["PATH"] = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    os.environ["PYTHONWARNINGS"] = "error"
    pages.sort(key=lambda page: -sum(map(count, blocks[page])))  # the longest first, none is late
    new = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        2, new, FORKS.set_forkserver_preload, (IMPORTED,)
    ) as pool:  # a page a core
        tasks = [pool.submit(follow, page, blocks[page]) for page in pages]
        wait(tasks, return_when=FIRST_EXCEPTION)
        pool.shutdown(cancel_futures=True)
        for each in tasks:
            if not each.cancelled():
                each.result()


def follow(page: Path, blocks: list[tuple[str, str]]) -> None:
    """Run the blocks of a page in order, in a copy of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        shutil.copytree(ROOT, place, ignore=left_out)
        (place / ".venv").symlink_to(ROOT / ".venv")
        for kind, text in blocks:
            for command in [text] if kind == "python" else commands(text):
                run(page, kind, command, place)


def left_out(folder: str, names: list[str]) -> set[str]:
    """Leave out the environments, caches and, at the top, what earlier commands wrote."""
    caches = {".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}
    written = {"runs", "demo"} if Path(folder) == ROOT else set()
    return {name for name in names if name in caches | written or name.startswith(".venv")}


def run(page: Path, kind: str, command: str, place: Path) -> None:
    began = time.monotonic()
    if page.name != "README.md" and may_fork(kind, command):
        code, said = forked(command, place)
    else:
        code, said = started(kind, command, place)
    first = command.strip().splitlines()[0]
    print(f"{time.monotonic() - began:6.1f} s  {page.name}: {first}", flush=True)
    if code:
        print(said[-4000:])
        raise RuntimeError(f"{page.name}: `{first}` exited with {code}")


def started(kind: str, command: str, place: Path) -> tuple[int, str]:
    """Run it in a process of its own."""
    words = ["python", "-c", command] if kind == "python" else ["bash", "-ec", command]
    result = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def may_fork(kind: str, command: str) -> bool:
    words = command.split()
    if kind == "python" or words[0] != "tenfold":
        return False
    return not OF_A_SHELL.search(command) and words[1] not in WITH_WORKERS


def forked(command: str, place: Path) -> tuple[int, str]:
    """Run a command of tenfold in a fork of a process in which `IMPORTED` are."""
    with tempfile.NamedTemporaryFile("r") as said:
        process = FORKS.Process(target=follow_in_a_fork, args=(command, place, said.name))
        process.start()
        process.join()
        return process.exitcode or 0, said.read()


def follow_in_a_fork(command: str, place: Path, said: str) -> None:
    with open(said, "w") as output:
        for stream in (1, 2):
            os.dup2(output.fileno(), stream)
    os.chdir(place)
    from tenfold.cli.app import main as tenfold

    sys.argv = shlex.split(command)
    tenfold()


def count(block: tuple[str, str]) -> int:
    kind, text = block
    return 1 if kind == "python" else len(commands(text))


def commands(text: str) -> list[str]:
    lines = [re.sub(r"\s+#.*", "", line).strip() for line in text.splitlines()]
    return [
        line for line in lines if line and not line.startswith("#") and line not in DONE_ALREADY
    ]


if __name__ == "__main__":
    main()
