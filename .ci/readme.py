"""Run every command and every Python example of Markdown files, a page in order in a copy of the tree.

Blocks fenced as `sh` and `python` are run; a block fenced as `text` or `console` is only read.
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
    with ThreadPoolExecutor(max_workers=2) as pool:  # a page a core
        done = [pool.submit(follow, page, found) for page, found in blocks.items()]
        wait(done, return_when=FIRST_EXCEPTION)
        pool.shutdown(cancel_futures=True)
        for each in done:
            if not each.cancelled():
                each.result()


def follow(page: Path, blocks: list[tuple[str, str]]) -> None:
    """All that a page says, in order, in a copy of the tree of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        kept_out = shutil.ignore_patterns(".git", ".venv*", "runs", "demo", "__pycache__")
        shutil.copytree(ROOT, place, ignore=kept_out)
        (place / ".venv").symlink_to(ROOT / ".venv")
        bin_first = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": bin_first, "PYTHONWARNINGS": "error"}
        for kind, text in blocks:
            for command in [text] if kind == "python" else commands(text):
                run(page, kind, command, place, environment)


def run(page: Path, kind: str, command: str, place: Path, environment: dict[str, str]) -> None:
    began = time.monotonic()
    words = ["python", "-c", command] if kind == "python" else ["bash", "-ec", command]
    done = subprocess.run(
        words, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    first = command.strip().splitlines()[0]
    print(f"{time.monotonic() - began:6.1f} s  {page.name}: {first}", flush=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
        raise RuntimeError(f"{page.name}: `{first}` exited with {done.returncode}")


def commands(text: str) -> list[str]:
    lines = [re.sub(r"\s+#.*", "", line).strip() for line in text.splitlines()]
    return [
        line for line in lines if line and not line.startswith("#") and line not in DONE_ALREADY
    ]


if __name__ == "__main__":
    main()
