"""Several runs at once are the same runs."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenfold.errors import TenfoldError
from tenfold.lab.recipes import recipe
from tenfold.lab.together import train_together
from tenfold.lab.train import train


@pytest.mark.slow
def test_together_equals_one_after_another(tmp_path):
    recipes = [recipe("symmetry/addition-relative", "smoke", seed=seed) for seed in range(3)]
    heard = []
    folders = [tmp_path / str(seed) for seed in range(3)]
    runs = train_together(
        recipes,
        folders,
        workers=2,
        tell=lambda number, line: heard.append((number, line.get("step"))),
    )
    assert set(heard) >= {(number, step) for number in range(3) for step in range(1, 21)}
    for run in runs:
        alone = train(run.recipe, tmp_path / f"alone-{run.recipe.seed}")
        assert run.result()["rows"] == alone.result()["rows"]


@pytest.mark.slow
def test_a_failure_is_told_and_stops_nothing_else(tmp_path):
    recipes = [recipe("symmetry/addition-relative", "smoke", seed=seed) for seed in range(2)]
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match="cannot write"):
        train_together(recipes, [tmp_path / "file" / "run", tmp_path / "good"], workers=1)
    assert (tmp_path / "good" / "result.json").exists()


SCRIPT = """
import multiprocessing
import sys
from pathlib import Path
from tenfold.lab.recipes import recipe
from tenfold.lab.together import train_together

if __name__ == "__main__":
    train = {"steps": 10**6, "checkpoint_every": 10**6}
    endless = recipe("symmetry/addition-relative", "smoke", train=train)
    train_together(
        [endless],
        [Path(sys.argv[1])],
        tell=lambda *_: print(multiprocessing.active_children()[0].pid, flush=True),
    )
"""


def ended(pid):
    """Gone, or a zombie that nobody waits for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_parent(tmp_path, number):
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "run")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        worker = int(parent.stdout.readline())
        parent.send_signal(signal.SIGSTOP)
        time.sleep(8)  # the worker tells more than a pipe holds
        parent.send_signal(number)
        parent.send_signal(signal.SIGCONT)
        parent.wait(timeout=30)
    deadline = time.monotonic() + 30
    while not ended(worker):
        assert time.monotonic() < deadline, "the worker goes on without its parent"
        time.sleep(0.1)
    saved = list((tmp_path / "run" / "checkpoints").glob("step-*"))
    assert bool(saved) == (number == signal.SIGTERM)
