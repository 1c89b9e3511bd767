"""Sweeps on Ray: workers, nodes and drivers die; every run is in the results exactly once."""

import json
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tenfold.core.errors import Stopped, TenfoldError
from tenfold.results.collect import collect, find_runs
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train
from tenfold.sweeps import ray_pool as cluster
from tenfold.sweeps.sweep import run_sweep

SMOKE = recipe("symmetry/addition-relative", "smoke")
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


@pytest.fixture(scope="module")
def nodes():
    """A cluster: a head that runs nothing, and three nodes of one core, of which one test kills one."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    watchful = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": watchful}
    made = Cluster(initialize_head=True, head_node_args=head)
    workers = [made.add_node(num_cpus=1, object_store_memory=10**8) for _ in range(3)]
    try:
        yield made, workers
    finally:
        ray.shutdown()
        made.shutdown()


def slow(count):
    """Runs long enough to be interrupted."""
    options = {"steps": 200, "checkpoint_every": 20}
    return [SMOKE.replace(seed=seed, train=options) for seed in range(count)]


def rows(folder):
    """Every row of every run, but for when and by which attempt it was made."""
    actual = collect(find_runs(folder))
    assert actual.problems == []
    left_out = ("date", "commit")
    return sorted(
        json.dumps({key: value for key, value in row.items() if key not in left_out})
        for row in actual.rows
    )


@pytest.mark.full
def test_a_node_dies_in_the_middle(tmp_path, nodes):
    made, workers = nodes
    recipes = slow(6)
    killed = []

    def callback(entries):
        if not killed and sum(entry.status.get("step", 0) > 20 for entry in entries) >= 2:
            made.remove_node(workers[0], allow_graceful=False)
            killed.append(time.monotonic())

    outcome = run_sweep(
        recipes, tmp_path / "runs", on="ray", address=made.address, progress=callback
    )
    assert killed
    assert len(outcome.complete()) == 6
    actual = collect(find_runs(tmp_path / "runs"))
    assert sorted(run["seed"] for run in actual.runs) == list(range(6))
    for each in recipes:
        train(each, tmp_path / "alone" / each.run_name)
    assert rows(tmp_path / "runs") == rows(tmp_path / "alone")


DRIVER = """
import sys
from tenfold.runs.recipe_files import recipe
from tenfold.sweeps.sweep import run_sweep

if __name__ == "__main__":
    smoke = recipe("symmetry/addition-relative", "smoke")
    recipes = [smoke.replace(seed=s, train={"steps": 200, "checkpoint_every": 20}) for s in range(4)]
    run_sweep(
        recipes, sys.argv[1], on="ray", address=sys.argv[2], workers=2,
        progress=lambda entries: print(sum(e.state in ("finished", "kept") for e in entries), flush=True),
    )
"""


@pytest.mark.full
def test_a_driver_is_killed_and_started_again(tmp_path, nodes):
    """Nothing that was finished is done again, nothing is there twice."""
    made, _ = nodes
    (tmp_path / "driver.py").write_text(DRIVER)
    runs = tmp_path / "runs"
    words = [sys.executable, str(tmp_path / "driver.py"), str(runs), made.address]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as driver:
        while driver.stdout.readline() == b"0\n":
            pass
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    done = {path: path.read_bytes() for path in runs.glob("*/result.json")}
    assert 1 <= len(done) < 4
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=200)
    assert len(list(runs.glob("*/result.json"))) == 4
    for path, stored in done.items():
        assert path.read_bytes() == stored
    attempts = {json.loads(path.read_text())["attempt"] for path in runs.glob("*/result.json")}
    assert len(attempts) == 4
    for each in slow(4):
        train(each, tmp_path / "alone" / each.run_name)
    assert rows(runs) == rows(tmp_path / "alone")


@pytest.mark.parametrize(
    ("address", "message"),
    [("127.0.0.1:1", "refused"), ("ray://127.0.0.1:1", "refused"), ("nonsense", "Invalid address")],
)
def test_a_cluster_that_cannot_be_reached(tmp_path, address, message):
    with pytest.raises(TenfoldError, match=f'cluster "{address}" cannot be reached: .*{message}'):
        run_sweep([SMOKE], tmp_path, on="ray", address=address)
    assert not list(tmp_path.iterdir())


def test_without_ray(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TenfoldError, match=r"pip install 'tenfold\[ray\]'"):
        run_sweep([SMOKE], tmp_path, on="ray")


def test_ray_that_does_not_start_is_one_line(tmp_path, monkeypatch):
    """On a busy machine Ray raises a plain `Exception`."""

    def init(*_, **__):
        raise Exception("The current node timed out during startup.\nThis could happen")

    slow = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", slow)
    with pytest.raises(
        TenfoldError, match=r"^Ray failed: The current node timed out during startup. This"
    ):
        run_sweep([SMOKE], tmp_path, on="ray")
    assert not list(tmp_path.iterdir())


def test_a_signal_while_ray_waits_ends_the_sweep_in_one_line():
    def wait(*_, **__):
        raise SystemError("wait returned a result with an exception set") from Stopped(
            "stopped", 15
        )

    pool = cluster.RayPool()
    pool.ray, pool.tasks = SimpleNamespace(wait=wait), {"task": 0}
    with pytest.raises(Stopped, match="stopped"):
        list(pool.ended(1.0))


def test_what_no_node_has(monkeypatch):
    """A run on a GPU, in a cluster without one, would wait for ever."""

    class Hollow:
        @staticmethod
        def nodes():
            return [{"Alive": True, "Resources": {"CPU": 4.0, "memory": 1e9}}]

    pool = cluster.RayPool()
    pool.ray = Hollow
    job = cluster.SweepJob(SMOKE.replace(train={"device": "cuda"}).as_json(), None, None, None)
    with pytest.raises(TenfoldError, match="needs 1 cores and 1 GPU; no node"):
        pool.start(0, job, threads=1, memory=1)
    job = cluster.SweepJob(SMOKE.as_json(), None, None, None)
    with pytest.raises(TenfoldError, match="needs 8 cores; no node"):
        pool.start(0, job, threads=8, memory=1)
