"""The loop: gradients, resuming to the bit, stopping in every way."""

import errno
import json
import os
import random
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import Diverged, Stopped, TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.data.tasks import samplers
from tenfold.training.checkpoint import Checkpoints
from tenfold.training.loop import Job, answer_loss, train
from tenfold.training.options import Training, stream


class Crash(Exception):
    pass


def at_step(number, do):
    """A `report` callback that does something when a step ends."""
    return lambda line: do() if line["step"] == number else None


def crash():
    raise Crash


def metrics(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


@pytest.fixture
def undisturbed(make_job, tmp_path):
    """The folder of the run that nothing happened to."""
    folder = tmp_path / "undisturbed"
    folder.mkdir()
    train(make_job(folder))
    return folder


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "disturbed"
    path.mkdir()
    return path


def test_bfloat16_is_in_the_steps_alone(tmp_path, make_model, make_batcher, task):
    """Products of a step are rounded to 8 bits; weights, their gradients and what is evaluated are float32."""
    batcher = make_batcher("causal")
    batch = batcher(task.sample(12, 6, np.random.default_rng(0), samplers.lengths))
    gradients, kinds = {}, set()

    def evaluate(model):
        with torch.inference_mode():
            kinds.add(model(batch).dtype)
        return 0.0, {}

    for precision in ("float32", "bfloat16"):
        model = make_model("decoder", "rotary").float()
        (tmp_path / precision).mkdir()
        options = Training(steps=1, precision=precision, clip=1e9, warmup=0)
        job = Job(model, lambda i, _: batch, options, tmp_path / precision, 0, "", evaluate, 1)
        train(job)
        gradients[precision] = torch.cat([p.grad.flatten() for p in model.parameters()])
        assert {p.dtype for p in model.parameters()} == {torch.float32}
    exact, rounded = gradients["float32"], gradients["bfloat16"]
    assert kinds == {torch.float32}
    assert not torch.equal(exact, rounded)
    assert (exact - rounded).norm() < 0.05 * exact.norm()


def test_accumulated_gradients_are_those_of_the_larger_batch(
    tmp_path, make_model, make_batcher, task
):
    """In parts of different sizes, with different numbers of graded tokens."""
    batcher = make_batcher("causal")
    examples = task.sample(12, 6, np.random.default_rng(0), samplers.lengths)
    parts = [slice(0, 2), slice(2, 3), slice(3, 8), slice(8, 12)]
    gradients = []
    for folder, accumulate in (("one", 1), ("four", 4)):
        model = make_model("decoder", "rotary")
        (tmp_path / folder).mkdir()
        whole, each = batcher(examples), [batcher(examples.rows(part)) for part in parts]
        assert len({int((part.target != IGNORED).sum()) / len(part) for part in each}) > 1
        batches = [whole] if accumulate == 1 else each
        options = Training(steps=1, accumulate=accumulate, clip=1e9, warmup=0)
        job = Job(model, lambda i, _, b=batches: b[i], options, tmp_path / folder, 0, "")
        train(job)
        gradients.append({name: p.grad for name, p in model.named_parameters()})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert gradient.abs().sum() > 0
        assert_close(gradients[1][name], gradient)


def test_loss_is_the_mean_over_graded_tokens(tmp_path, make_model, make_batcher, ragged):
    model, batch = make_model("decoder"), make_batcher("causal")(ragged)
    logits, terms = model(batch).log_softmax(-1), []
    for row in range(len(batch)):
        for place in range(batch.read):
            if batch.target[row, place] != IGNORED:
                terms.append(-logits[row, place, batch.target[row, place]])
    assert_close(answer_loss(model(batch), batch.target), torch.stack(terms).sum())
    lines = []
    options = Training(steps=1, warmup=0)
    train(Job(model, lambda *_: batch, options, tmp_path, 0, "", report=lines.append))
    assert lines[0]["loss"] == pytest.approx(torch.stack(terms).mean().item(), abs=1e-12)


def test_gradients_are_clipped(tmp_path, make_model, make_batcher, ragged):
    model, batch, lines = make_model("decoder"), make_batcher("causal")(ragged), []
    options = Training(steps=1, warmup=0, clip=1e-3)
    train(Job(model, lambda *_: batch, options, tmp_path, 0, "", report=lines.append))
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    assert lines[0]["grad_norm"] > 1e-2
    assert float(norm) == pytest.approx(1e-3, rel=1e-3)


def test_it_learns(make_job, folder):
    lines = []
    train(replace(make_job(folder, steps=60, average=0.0), report=lines.append, evaluate=None))
    assert lines[-1]["loss"] < lines[0]["loss"] - 0.3


def test_seeds_of_steps_are_distinct():
    seen = {stream(seed, step) for seed in range(30) for step in range(300)}
    assert len(seen) == 9000
    assert all(0 <= value < 2**63 for value in seen)


def test_metrics(undisturbed):
    lines = metrics(undisturbed)
    assert [line["step"] for line in lines] == list(range(1, 13))
    assert [line["step"] for line in lines if "eval" in line] == [5, 10, 12]
    assert set(lines[0]) == {"step", "loss", "grad_norm", "lr"}


def test_averaged_weights(make_job, folder, saved):
    """By hand: a moving average with a warm-up, and the evaluation sees it."""
    weights, evaluated = [], []
    job = make_job(folder, steps=5)

    def remember(_line):
        weights.append({k: v.clone() for k, v in job.model.state_dict().items()})

    def evaluate(model):
        evaluated.append({k: v.clone() for k, v in model.state_dict().items()})
        return 0.0, {}

    train(replace(job, report=remember, evaluate=evaluate, evaluate_every=100))
    average = weights[0]
    for step, now in enumerate(weights[1:], start=2):
        decay = min(0.9, (1 + step) / (10 + step))
        average = {k: decay * average[k] + (1 - decay) * now[k] for k in now}
    tensors = saved(folder)
    for name, value in average.items():
        assert_close(tensors[f"average/{name}"], value)
        assert_close(evaluated[-1][name], value)
        assert torch.equal(tensors[f"model/{name}"], weights[-1][name])


def test_the_best_weights_are_kept(make_job, folder, saved):
    scores, seen = iter([0.2, 0.9, 0.5]), []

    def evaluate(model):
        seen.append({k: v.clone() for k, v in model.state_dict().items()})
        return next(scores), {}

    progress = train(replace(make_job(folder), evaluate=evaluate))
    assert (progress.best_score, progress.best_step) == (0.9, 10)
    assert all(torch.equal(saved(folder)[f"best/{k}"], v) for k, v in seen[1].items())


def test_a_reason_to_stop(make_job, folder):
    job = make_job(folder)
    stopped = train(replace(job, stop=lambda model, step: "enough" if step == 6 else None))
    assert (stopped.step, stopped.reason) == (6, "enough")
    again = train(make_job(folder))  # it has ended, and stays so
    assert (again.step, again.reason) == (6, "enough")


@pytest.mark.parametrize("seed", range(4))
def test_resume_is_exact_to_the_bit(make_job, undisturbed, folder, identical, seed):
    """Stopped at a random step, between checkpoints or at one, twice."""
    for moment in sorted(random.Random(seed).sample(range(1, 12), 2)):
        with pytest.raises(Crash):
            train(replace(make_job(folder), report=at_step(moment, crash)))
    train(make_job(folder))
    assert identical(folder, undisturbed)
    assert metrics(folder) == metrics(undisturbed)


@pytest.mark.parametrize("model", ["gru", {"name": "decoder", "mixer": "gated-linear"}])
def test_models_without_attention_resume_alike(
    make_job, folder, recipe, identical, tmp_path, model
):
    recipe, whole = recipe.replace(model=model, pe="none"), tmp_path / "whole"
    whole.mkdir()
    train(make_job(whole, recipe))
    with pytest.raises(Crash):
        train(replace(make_job(folder, recipe), report=at_step(7, crash)))
    train(make_job(folder, recipe))
    assert identical(folder, whole)


def test_global_seeds_play_no_part(make_job, undisturbed, folder, identical):
    job = make_job(folder)
    torch.manual_seed(12345)
    train(replace(job, report=lambda line: torch.manual_seed(line["step"])))
    assert identical(folder, undisturbed)


def test_another_seed_gives_other_weights(make_job, undisturbed, folder, recipe, identical):
    train(make_job(folder, recipe.replace(seed=1)))
    assert not identical(folder, undisturbed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_and_the_same_call_goes_on(make_job, undisturbed, folder, identical, number):
    assert threading.current_thread() is threading.main_thread()
    before = signal.getsignal(number)
    job = replace(make_job(folder), report=at_step(6, lambda: os.kill(os.getpid(), number)))
    with pytest.raises(Stopped, match=f"stopped by {number.name} at step 6") as caught:
        train(job)
    assert caught.value.exit_code == 128 + number
    assert signal.getsignal(number) == before
    assert Checkpoints(folder / "checkpoints").latest().step == 6
    train(make_job(folder))
    assert identical(folder, undisturbed)
    assert metrics(folder) == metrics(undisturbed)


def test_a_signal_in_the_last_step_ends_as_usual(make_job, undisturbed, folder, identical):
    job = replace(
        make_job(folder), report=at_step(12, lambda: os.kill(os.getpid(), signal.SIGTERM))
    )
    assert train(job).step == 12
    assert identical(folder, undisturbed)


@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_nan_stops_and_keeps_the_last_good_state(make_job, undisturbed, folder, identical, what):
    job = make_job(folder)

    def poisoned(number, generator):
        if number == 6:  # the batch of step 7
            if what == "loss":
                job.model.head.bias.data.fill_(torch.nan)
            else:
                job.model.head.weight.register_hook(lambda gradient: gradient * torch.inf)
        return job.batch_at(number, generator)

    with pytest.raises(Diverged, match=r"at step 7; training stopped, .* train\.lr \(now 0\.01\)"):
        train(replace(job, batch_at=poisoned))
    newest = Checkpoints(folder / "checkpoints").latest()
    assert newest.step == 4
    for tensors in newest.tensors.values():
        assert all(tensor.isfinite().all() for tensor in tensors.values())
    train(make_job(folder))
    assert identical(folder, undisturbed)


def test_another_recipe(make_job, folder, recipe):
    train(make_job(folder))
    other = make_job(folder, recipe, lr=0.02)
    with pytest.raises(TenfoldError, match=r"belongs to another recipe .*--fresh"):
        train(other)
    assert Checkpoints(folder / "checkpoints").latest().step == 12


def test_a_damaged_checkpoint_is_trained_again(make_job, undisturbed, folder, identical):
    with pytest.raises(Crash):
        train(replace(make_job(folder), report=at_step(10, crash)))
    (folder / "checkpoints" / "step-000000008" / "model.safetensors").write_bytes(b"")
    with pytest.warns(UserWarning, match="skipped a damaged checkpoint, step-000000008"):
        train(make_job(folder))
    assert identical(folder, undisturbed)
    assert metrics(folder) == metrics(undisturbed)


def test_full_disk_loses_nothing(make_job, undisturbed, folder, identical, monkeypatch):
    def full(_handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    report = at_step(6, lambda: monkeypatch.setattr(os, "fsync", full))
    with pytest.raises(TenfoldError, match=r"cannot write .*No space left on device"):
        train(replace(make_job(folder), report=report))
    monkeypatch.undo()
    assert sorted(p.name for p in (folder / "checkpoints").iterdir()) == ["step-000000004"]
    train(make_job(folder))
    assert identical(folder, undisturbed)


def test_metrics_that_cannot_be_written(make_job, undisturbed, folder, identical):
    """The kernel itself refuses: files may not grow beyond 600 bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    job = make_job(folder, checkpoint_every=100)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
        with pytest.raises(TenfoldError, match=r"cannot write .*metrics\.jsonl: File too large"):
            train(job)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    train(make_job(folder))
    assert metrics(folder) == metrics(undisturbed)


def test_metrics_that_were_lost(make_job, undisturbed, folder):
    """A power cut may take lines that the checkpoint had counted; what is there stays readable."""
    with pytest.raises(Crash):
        train(replace(make_job(folder), report=at_step(6, crash)))
    path = folder / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.warns(UserWarning, match="metrics.jsonl was damaged"):
        train(make_job(folder))
    lines = metrics(folder)
    assert [line["step"] for line in lines] == [1, 2, 5, 6, 7, 8, 9, 10, 11, 12]
    assert lines[2:] == metrics(undisturbed)[4:]


def test_in_a_thread_it_trains_too(make_job, undisturbed, folder, identical):
    thread = threading.Thread(target=train, args=(make_job(folder),))
    thread.start()
    thread.join()
    assert identical(folder, undisturbed)


def test_a_folder_that_is_a_file(make_job, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TenfoldError, match=r"cannot write .*Not a directory"):
        train(make_job(tmp_path / "file"))
