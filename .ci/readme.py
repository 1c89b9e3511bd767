"""Run every command and every Python example of Markdown files, each page in its own copy of the tree.

Blocks fenced as `sh` and `python` are run in order. Blocks fenced as `text` or `console` are not run.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DONE_ALREADY = {"make test", "make test-all", "make check", "make peers"}  # CI has just run them


def main() -> None:
    pages = [ROOT / name for name in sys.argv[1:]]
    blocks = {page: BLOCK.findall(page.read_text()) for page in pages}
    if not any(blocks.values()):
        raise SystemExit("there are no commands to run")
    pages.sort(key=lambda page: -sum(map(count, blocks[page])))  # the longest first, none is late
    with ThreadPoolExecutor(max_workers=2) as pool:  # a page a core
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
        bin_first = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": bin_first, "PYTHONWARNINGS": "error"}
        for kind, text in blocks:
            for command in [text] if kind == "python" else commands(text):
                run(page, kind, command, place, environment)


def left_out(folder: str, names: list[str]) -> set[str]:
    """Leave out the environments, caches and, at the top, what earlier commands wrote."""
    caches = {".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}
    written = {"runs", "demo"} if Path(folder) == ROOT else set()
    return {name for name in names if name in caches | written or name.startswith(".venv")}


def run(page: Path, kind: str, command: str, place: Path, environment: dict[str, str]) -> None:
    began = time.monotonic()
    words = ["python", "-c", command] if kind == "python" else ["bash", "-ec", command]
    result = subprocess.run(
        words, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    first = command.strip().splitlines()[0]
    print(f"{time.monotonic() - began:6.1f} s  {page.name}: {first}", flush=True)
    if result.returncode:
        print(result.stdout[-2000:], result.stderr[-2000:], sep="\n")
        raise RuntimeError(f"{page.name}: `{first}` exited with {result.returncode}")


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
