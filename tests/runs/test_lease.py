"""A folder has one holder; a holder that is gone is replaced, and one that slept finds out."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.runs.lease import InUse, Lease, Lost, ended, leases

HOLD = """
import sys, time
from pathlib import Path
from tenfold.runs.lease import Lease
with Lease(Path(sys.argv[1])) as lease:
    print(lease.attempt, flush=True)
    time.sleep(1000)
"""


def age(path, seconds):
    """Make a lease look as if it was renewed so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def on_another_machine(path):
    """Make a lease look as if a process elsewhere held it: its number says nothing here."""
    path.write_text(path.read_text().replace('"machine": "', '"machine": "not '))


@pytest.fixture(autouse=True)
def at_once(request, monkeypatch):
    """Nobody waits for a holder to find out, but in the tests about that."""
    if "patient" not in request.fixturenames:
        monkeypatch.setattr("tenfold.runs.lease.GRACE", 0)


@pytest.mark.usefixtures("patient")
def test_a_holder_that_is_well_stops_before_its_successor_writes(tmp_path):
    """Its lease only looks ended, say since the clock jumped: it finds out within two renewals."""
    with Lease(tmp_path, life=1.2) as holder:
        on_another_machine(holder.path)
        age(holder.path, 70)
        began = time.monotonic()
        with Lease(tmp_path, life=1.2) as successor:
            assert time.monotonic() - began >= 0.4
            with pytest.raises(Lost):  # as it stands, without looking at the folder
                holder.check()
            successor.confirm()


@pytest.fixture
def patient():
    """Marks a test in which a successor waits."""


@pytest.mark.usefixtures("patient")
def test_who_is_released_or_killed_is_not_waited_for(tmp_path):
    with Lease(tmp_path, life=600.0):
        pass
    began = time.monotonic()
    with Lease(tmp_path, life=600.0) as lease:
        printed = json.loads(lease.path.read_text())
        lease.path.write_text(json.dumps({**printed, "pid": 2**22 + 1}))  # of no process
        with Lease(tmp_path, life=600.0):
            assert time.monotonic() - began < 100


def test_a_lease_from_the_future_has_ended(tmp_path):
    with Lease(tmp_path) as lease:
        on_another_machine(lease.path)
        age(lease.path, -50)
        assert not ended(lease.path)
        age(lease.path, -10_000)
        assert ended(lease.path)
        with Lease(tmp_path) as successor:
            successor.confirm()


@pytest.mark.parametrize("pid", ["x", None, -1, 0, 2**70, [1], 1.5, True])
def test_a_lease_of_an_odd_process_is_another_machines(tmp_path, pid):
    with Lease(tmp_path) as lease:
        printed = json.loads(lease.path.read_text())
        lease.path.write_text(json.dumps({**printed, "pid": pid}))
        assert not ended(lease.path) or pid is True
        age(lease.path, 70)
        assert ended(lease.path) or pid is True


def test_odd_names_and_kinds_of_leases(tmp_path):
    """By number, not by name; digits of other scripts are none; neither a pipe nor a folder is waited for."""
    (tmp_path / "lease-٠٠٠٠٠٩").write_text("{}")
    (tmp_path / "lease-999999").write_text(json.dumps({"released": True}))
    (tmp_path / "lease-1000000").write_text(json.dumps({"released": True}))
    with Lease(tmp_path) as lease:
        assert lease.path.name == "lease-1000001"
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)):
        path = tmp_path / f"lease-{int(leases(tmp_path)[-1].name[6:]) + 1}"
        make(path)
        os.utime(path, (1, 1), follow_symlinks=False)
        with Lease(tmp_path) as lease:
            lease.confirm()
    (tmp_path / ("lease-" + "9" * 249)).touch()
    age(tmp_path / ("lease-" + "9" * 249), 70)
    with pytest.raises(TenfoldError, match=r"cannot write to .*: File name too long"):
        Lease(tmp_path).__enter__()


def test_one_holder(tmp_path):
    with Lease(tmp_path) as lease:
        lease.check()
        with pytest.raises(InUse, match=f"in use by process {os.getpid()}; wait"):
            Lease(tmp_path).__enter__()
    with Lease(tmp_path) as second:
        assert second.attempt != lease.attempt
        assert [path.name for path in leases(tmp_path)] == ["lease-000002"]


def test_waits_as_long_as_it_is_told_to(tmp_path, monkeypatch):
    clock = [0.0]

    def sleep(seconds):
        clock[0] += seconds

    with Lease(tmp_path):
        monkeypatch.setattr("tenfold.runs.lease._clock", lambda: clock[0])
        monkeypatch.setattr("tenfold.runs.lease.time.sleep", sleep)
        with pytest.raises(InUse):
            Lease(tmp_path, patience=0.5).__enter__()
        monkeypatch.undo()
    assert clock[0] >= 0.5


def test_a_killed_holder_is_replaced_at_once(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline()
        with pytest.raises(InUse, match=f"process {other.pid}"):
            Lease(tmp_path).__enter__()
        other.send_signal(signal.SIGKILL)
        other.wait()
    with Lease(tmp_path) as lease:
        lease.confirm()


def test_elsewhere_only_time_tells(tmp_path):
    with Lease(tmp_path) as lease:
        on_another_machine(lease.path)
        age(lease.path, 50)
        assert not ended(lease.path)
        with pytest.raises(InUse, match=r"process \d+ on "):
            Lease(tmp_path).__enter__()
        age(lease.path, 70)
        assert ended(lease.path)
        with Lease(tmp_path) as successor:
            successor.confirm()
            with pytest.raises(Lost, match="taken over"):
                lease.confirm()
            with pytest.raises(Lost):  # once lost, always lost
                lease.check()
    with Lease(tmp_path) as third:
        third.confirm()


def test_who_lost_a_lease_does_not_release_anothers(tmp_path):
    slept = Lease(tmp_path)
    slept.__enter__()
    on_another_machine(slept.path)
    age(slept.path, 70)
    with Lease(tmp_path):
        slept.__exit__(None, None, None)
        with pytest.raises(InUse):
            Lease(tmp_path).__enter__()


def test_numbers_are_not_used_again(tmp_path):
    """Or a slow rival, who saw lease 1 end long ago, could take what is another's by now."""
    for number in range(1, 4):
        with Lease(tmp_path) as lease:
            assert lease.path.name == f"lease-{number:06d}"


def test_a_slow_rival_does_not_slip_below_the_holder(tmp_path, monkeypatch):
    """It looked when lease 1 had ended; by now 2 has come and gone, and 3 is held."""
    with Lease(tmp_path):
        pass
    rival, looked = Lease(tmp_path), leases(tmp_path)
    with Lease(tmp_path):
        pass
    with Lease(tmp_path) as holder:
        answers = iter([looked])
        now = leases
        monkeypatch.setattr(
            "tenfold.runs.lease.leases", lambda folder: next(answers, None) or now(folder)
        )
        with pytest.raises(InUse, match=f"process {os.getpid()}"):
            rival.__enter__()
        monkeypatch.undo()
        holder.confirm()
        assert leases(tmp_path) == [holder.path]


def test_what_is_lost_stays_lost(tmp_path, monkeypatch):
    """Even if the folder cannot be looked at any more."""
    with Lease(tmp_path) as lease:
        on_another_machine(lease.path)
        age(lease.path, 70)
        with Lease(tmp_path):
            with pytest.raises(Lost):
                lease.confirm()

            def fails(_):
                raise OSError("no such server")

            monkeypatch.setattr("tenfold.runs.lease.leases", fails)
            with pytest.raises(Lost):
                lease.confirm()


def test_a_folder_that_cannot_be_looked_at_is_not_an_empty_one(tmp_path):
    assert leases(tmp_path / "nothing") == []
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="Not a directory"):
        leases(tmp_path / "file")


@pytest.mark.parametrize("name", ["lease-x", "lease-", "lease-1.json"])
def test_other_files_are_no_leases(tmp_path, name):
    (tmp_path / name).write_text("{}")
    with Lease(tmp_path) as lease:
        assert lease.path.name == "lease-000001"


def test_a_holder_on_this_machine_that_does_not_renew_still_holds(tmp_path):
    """The machine slept, say: its process is there, and will go on."""
    with Lease(tmp_path) as lease:
        age(lease.path, 1000)
        assert not ended(lease.path)
        with pytest.raises(InUse):
            Lease(tmp_path).__enter__()
        lease.confirm()


def test_a_number_that_another_process_has_by_now(tmp_path):
    with Lease(tmp_path) as lease:
        printed = json.loads(lease.path.read_text())
        lease.path.write_text(json.dumps({**printed, "started": "1"}))
        assert ended(lease.path)


def test_it_renews_itself(tmp_path):
    with Lease(tmp_path, life=2.0) as lease:
        on_another_machine(lease.path)
        time.sleep(3)
        assert not ended(lease.path, 2.0)
        lease.check()


def test_a_half_written_lease_is_held_until_its_time_is_up(tmp_path):
    path = tmp_path / "lease-000007"
    path.write_text('{"attempt": "')
    with pytest.raises(InUse, match="another process"):
        Lease(tmp_path).__enter__()
    age(path, 70)
    with Lease(tmp_path) as lease:
        assert lease.path.name == "lease-000008"


def test_a_lease_that_is_written_between_two_looks_is_held(tmp_path, monkeypatch):
    with Lease(tmp_path) as stored:
        reported = [{}, json.loads(stored.path.read_text())]
        monkeypatch.setattr("tenfold.runs.lease._read", lambda _path: reported.pop(0))
        assert not ended(stored.path)
        monkeypatch.undo()


def take(folder, barrier, won):
    barrier.wait()
    try:
        with Lease(folder) as lease:
            lease.confirm()
            won.put(os.getpid())
            barrier.wait()
    except InUse:
        barrier.wait()


@pytest.mark.full
@pytest.mark.parametrize("left", [None, "released", "old"])
def test_of_many_one_wins(tmp_path, left):
    if left is not None:
        with Lease(tmp_path) as lease:
            if left == "old":
                text = lease.path.read_text()
    if left == "old":
        lease.path.write_text(text)
        on_another_machine(lease.path)
        age(lease.path, 70)
    context = multiprocessing.get_context("fork")
    barrier, won = context.Barrier(8), context.Queue()
    rivals = [context.Process(target=take, args=(tmp_path, barrier, won)) for _ in range(8)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join(300)  # on a busy machine
        assert rival.exitcode == 0
    won.get(timeout=1)
    assert won.empty()


def test_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TenfoldError, match="cannot write to"):
        Lease(tmp_path / "file" / "run").__enter__()


def test_a_crash_while_a_lease_is_made_leaves_none(tmp_path, monkeypatch):
    def crash(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "hardlink_to", crash)
    with pytest.raises(KeyboardInterrupt), Lease(tmp_path):
        pass
    monkeypatch.undo()
    (tmp_path / ".lease-left").write_text("")  # as a kill leaves it
    with Lease(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == ["lease-000001"]


def test_a_release_is_whole_or_has_not_happened(tmp_path, monkeypatch):
    """A kill in the middle of a release leaves the lease of a process that is gone, which is taken at once."""
    seen = []
    real = Path.replace

    def look(self, target):
        seen.append(target.read_text())
        return real(self, target)

    monkeypatch.setattr(Path, "replace", look)
    with Lease(tmp_path) as lease:
        pass
    assert '"pid"' in seen[0]
    assert "released" in lease.path.read_text()


@pytest.mark.parametrize("problem", [PermissionError, NotImplementedError])
def test_a_file_system_without_second_names(tmp_path, monkeypatch, problem):
    def refused(self, target):
        raise problem

    monkeypatch.setattr(Path, "hardlink_to", refused)
    with Lease(tmp_path), pytest.raises(InUse), Lease(tmp_path):
        pass
