"""What the page proves equals what `tenfold certify` proves: the contexts, their order and margins, the machine."""

import numpy as np
import pytest

from tenfold.data.tasks.task import DIGITS
from tenfold.features.explorer.explore import explore
from tenfold.features.proofs.prover import Prover, problems
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.runs.run import open_run

pytestmark = pytest.mark.full
NAMES = ("addition-base-2", "successor", "subtraction")


@pytest.fixture(scope="module", params=NAMES)
def both(request, browser, tmp_path_factory):
    """A shipped model's proof in Python and in the page."""
    run = open_run(request.param)
    path = explore(request.param, out=tmp_path_factory.mktemp("proof") / "page.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    script = """async () => {
      const proof = await explorer.service.call("prove", {model: 0}).promise;
      const {rows} = await explorer.service.call("rows", {model: 0, order: "number", from: 0, count: proof.count}).promise;
      return {count: proof.count, wrong: proof.wrong, margins: Array.from(proof.margins), machine: proof.machine,
        problems: rows.map(row => row.problem), outputs: rows.map(row => row.output)};
    }"""
    seen = page.evaluate(script)
    page.close()
    model = run.model()
    return run, Prover(model, run.built.batcher), model, seen


def test_the_same_contexts_in_the_same_order(both):
    run, prover, _, seen = both
    assert seen["count"] == len(prover.contexts)
    assert seen["wrong"] == 0
    end = run.built.batcher.task.vocabulary.end
    output = np.where(prover.contexts.output < 0, end, prover.contexts.output)
    assert seen["outputs"] == output.tolist()
    for row in np.random.default_rng(0).integers(0, seen["count"], 60).tolist():
        digits, lengths = problems(prover.contexts, np.array([row]))
        texts = [
            "".join(DIGITS[d] for d in digits[0, m, : lengths[0, m]][::-1])
            for m in range(lengths.shape[1])
        ]
        assert seen["problems"][row] == texts


def test_the_same_margins(both):
    _, prover, model, seen = both
    rows = np.random.default_rng(1).integers(0, seen["count"], 400)
    ours = np.array(seen["margins"])[rows]
    np.testing.assert_allclose(ours, prover.margins(model, rows), atol=2e-4)


def test_the_same_machine(both):
    run, _, _, seen = both
    machine = extract_machine(run).machine
    assert seen["machine"]["states"] == machine.states
    ours = np.array(seen["machine"]["output"])
    defined = machine.output != -3
    both_defined = defined & (ours != -3)
    assert both_defined.sum() > 0.9 * defined.sum()
    assert (ours[both_defined] == machine.output[both_defined]).all()
