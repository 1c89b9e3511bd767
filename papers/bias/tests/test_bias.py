"""The recipes of the `bias` paper: what they write, what their windows see, and what can be proved of them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tenfold.data.tasks import samplers
from tenfold.features.proofs.certify import certify
from tenfold.features.proofs.prover import Prover, unprovable
from tenfold.ledger.experiments import DrawingContext, Lab, find
from tenfold.models.locality import NotCertifiable
from tenfold.results.committed import read_rows
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train

ROOT = Path(__file__).parents[3]
TASKS = ("successor", "addition", "times", "parity")
KINDS = ("vanilla", "rope", "alibi", "relative", "randomized", "interpolated")
WINDOWS = ("window", "window-cyclic", "window-none")


def written(name, problem, **changes):
    built = build(recipe(f"bias/{name}", **changes))
    batch, v = built.batcher(built.batcher.parse(problem)), built.batcher.vocabulary
    target = [token for token in batch.target[0].tolist() if token >= 0]
    return v.text(batch.source.tokens[0]), v.text(target)


@pytest.mark.parametrize(
    ("name", "problem", "question", "answer"),
    [
        ("addition-vanilla", "123+748", "00123+00748", "17800;"),
        ("addition-vanilla", "123456+7", "0123456+0000007", "3643210;"),  # longer than in training
        ("addition-window", "123+748", "+00172438", "1780;"),
        ("successor-vanilla", "999", "00999", "00010;"),
        ("successor-window", "99999", "S099999", "000001;"),
        ("times-vanilla", "6*47", "6*00047", "28200;"),
        ("times-window", "6*47", "*606467", "282;"),
        ("parity-vanilla", "1101", "0" * 14 + "1101", "110" + "1" * 15 + ";"),
        ("parity-final-vanilla", "1101", "0" * 14 + "1101", "1;"),
        ("parity-final-vanilla", "1" * 20, "1" * 20, "0;"),
        ("parity-window", "1" * 20, "P" + "1" * 20, "10" * 10 + ";"),
        ("division-vanilla", "100/8", "100/8", "012;"),
    ],
)
def test_problems_are_written_as_in_the_paper(name, problem, question, answer):
    assert written(name, problem) == (question, answer)


@pytest.mark.parametrize("task", TASKS)
def test_all_methods_of_a_task_have_one_architecture(task):
    plain = recipe(f"bias/{task}-vanilla")
    for kinds, written in ((KINDS, "reversed"), (WINDOWS, "interleaved")):
        first = recipe(f"bias/{task}-{kinds[0]}")
        for kind in kinds:
            other = recipe(f"bias/{task}-{kind}")
            assert (other.model, other.task) == (plain.model, plain.task)
            assert (other.train, other.data, other.format) == (
                first.train,
                first.data,
                first.format,
            )
            assert other.format.name == written


def scaffold(rows, tokens, width, step, ahead=0):
    """The paper's matrices by plain loops: self-attention (rows x rows), cross-attention (rows x tokens).

    Row i sees rows i - k; and the tokens of columns i - k, counted from the question's end, `step` tokens a column: the
    anti-diagonal. k = 0..width, from -ahead on in cross-attention.
    """
    own, cross = torch.zeros(rows, rows).bool(), torch.zeros(rows, tokens).bool()
    for i in range(rows):
        for k in range(width + 1):
            if i - k >= 0:
                own[i, i - k] = True
        for k in range(-ahead, width + 1):
            for t in range(step):
                j = tokens - 1 - step * (i - k) - t
                if i - k >= 0 and 0 <= j < tokens:
                    cross[i, j] = True
    return own, cross


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize(
    ("name", "step", "ahead"),
    [
        ("successor-window-none", 1, 0),
        ("parity-window-none", 1, 0),
        ("addition-window-none", 2, 0),
        ("times-window-none", 2, 0),
        ("addition-window-none-both", 2, 1),
    ],
)
def test_windows_are_the_matrices_of_the_paper(name, step, ahead, width):
    window = {"name": "window", "behind": width, "ahead": 0, "axis": "column"}
    own_window = {**window, "ahead": 0}
    built = build(recipe(f"bias/{name}", pe=own_window, cross_pe={**window, "ahead": ahead}))
    rng = np.random.default_rng(0)
    batch = built.batcher(built.batcher.task.sample(2, 7, rng, samplers.exact))
    model, at = built.model(), batch.sequence.places
    own, cross = scaffold(len(at), batch.source.tokens.shape[1], width, step, ahead)
    assert torch.equal(model.stack.encodings[0].visible(at, at)[0, 0], own)
    seen = model.stack.cross_encodings[0].visible(at, batch.source.places)[0, 0]
    assert torch.equal(seen, cross)


def test_a_column_keeps_its_phase_in_a_longer_question():
    built = build(recipe("bias/addition-window-cyclic"))
    for length in (4, 5, 6, 7):
        examples = built.batcher.task.sample(1, length, np.random.default_rng(0), samplers.exact)
        batch = built.batcher(examples)
        for side in (batch.source, batch.sequence):
            assert torch.equal(side.places["cyclic"], side.places["column"] % 3)


def first_digit(name, problems):
    """Logits of the units, in float64."""
    built = build(recipe(f"bias/{name}"))
    model = built.model().double().eval()
    return [model(built.batcher(built.batcher.parse(text)))[0, 0] for text in problems]


def test_open_on_both_sides_the_units_need_positions():
    """12+34 and 21+43 show the same digits in columns 0 and 1; their units are 6 and 4."""
    swapped = ["12+34", "21+43"]
    torch.testing.assert_close(*first_digit("addition-window-none-both", swapped))
    for name in ("addition-window-none", "addition-window-cyclic-both"):
        one, other = first_digit(name, swapped)
        assert not torch.allclose(one, other)


def test_without_positions_two_layers_see_enough_to_add_and_one_does_not():
    """By the sums of the digits in sight, which have no order, and the answers before; docs in papers/bias/README.md."""
    digits = np.random.default_rng(0).integers(10, size=(2, 2000, 30))
    column = digits.sum(0)
    carry = np.zeros((2000, 31), dtype=int)  # into each column
    for i in range(30):
        carry[:, i + 1] = (column[:, i] + carry[:, i]) // 10
    answer = (column + carry[:, :30]) % 10
    seen = column[:, 1:] + column[:, :-1]  # of columns i and i - 1, from i = 1
    below = (
        seen[:, :-1] - answer[:, 1:-1] - answer[:, :-2]
    )  # what the layer below knows, from i = 2
    assert set(np.unique(below)) == {-1, 0, 8, 9, 10, 18, 19}
    carries = (below + 2) // 10  # into columns i and i - 1, together
    assert np.array_equal((seen[:, 1:] - answer[:, 1:-1] + carries) % 10, answer[:, 2:])

    def shown(first, second):
        """The digits of the two highest columns, the answers below, and what is to be written."""
        total = str(first + second).zfill(3)
        top = sorted(f"{first:03}"[:2] + f"{second:03}"[:2])
        return (top, total[1:]), total[0]

    assert shown(120, 30) == ((["0", "1", "2", "3"], "50"), "1")
    assert shown(215, 35) == ((["0", "1", "2", "3"], "50"), "2")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("certified-addition-window", 'reads the axis "index", whose places have no bound'),
        ("certified-parity-window", 'reads the axis "index", whose places have no bound'),
        ("addition-window-cyclic", "without a fixed width"),
    ],
)
def test_what_cannot_be_proved_says_why(name, reason):
    built = build(recipe(f"bias/{name}"))
    with pytest.raises(NotCertifiable, match=reason):
        Prover(built.model(), built.batcher)
    assert reason in unprovable(built.model(), built.batcher)


def test_what_can_be_proved_says_nothing():
    built = build(recipe("bias/certified-parity-none"))
    assert unprovable(built.model(), built.batcher) is None
    assert "contexts" in unprovable(built.model(), built.batcher, limit=3)


def test_the_final_bit_alone_cannot_be_proved():
    built = build(recipe("bias/certified-parity-none", task={"name": "parity", "final": True}))
    assert "a proof takes the running output" in unprovable(built.model(), built.batcher)


def test_the_final_bit_is_trained_as_the_running_output_is():
    final, running = recipe("bias/parity-final-vanilla"), recipe("bias/parity-vanilla")
    prose = {"name": running.name, "about": running.about, "claim": running.claim}
    assert final.replace(task="parity", **prose) == running


def test_a_window_that_is_open_ahead_cannot_be_proved():
    both = {"name": "window", "behind": 1, "ahead": 1, "axis": "column"}
    built = build(recipe("bias/certified-addition-cyclic", cross_pe=both))
    with pytest.raises(NotCertifiable, match="open ahead by 1"):
        Prover(built.model(), built.batcher)


@pytest.mark.parametrize(
    ("name", "contexts"),
    [("parity-none", 18), ("parity-cyclic", 98), ("successor-none", 1320), ("successor-cyclic", 10540), ("times-cyclic", 45223), ("parity-none-2", 38)],
)  # fmt: skip
def test_contexts_of_scaffolded_models(name, contexts):
    built = build(recipe(f"bias/certified-{name}"))
    assert len(Prover(built.model(), built.batcher).contexts) == contexts


def test_parity_is_proved_without_positions(tmp_path):
    """Seconds of training on up to 4 bits; then right at every length."""
    run = train(recipe("bias/certified-parity-none"), tmp_path / "run")
    assert certify(run, which="final").proved
    assert run.ask("1" * 500).right


@pytest.mark.parametrize("name", ["certificates", "calibrated-proofs"])
def test_the_page_says_in_which_arithmetic_models_are_proved(name):
    """What is committed is proved in exact arithmetic alone; a proof in float32 would have to be mentioned."""
    rows = read_rows(ROOT / "results/bias" / name / "laptop/rows.csv")
    values = {
        key: [r["value"] for r in rows if r["metric"] == key] for key in ("proved", "in-float32")
    }
    assert max(values["proved"]) == 1
    assert max(values["in-float32"]) == 0
    text = (ROOT / "papers/bias/README.md").read_text()
    section = text.split(
        "Beyond the paper: proofs" if name == "certificates" else "Proofs of calibrated models"
    )[1]
    assert "in exact arithmetic" in section.split("<!-- ours")[0]


FIGURES = {
    "baselines": {f"{what}-{task}" for what in ("figure-1", "table") for task in TASKS},
    "scaffolding": {f"{what}-{task}" for what in ("windows", "table") for task in TASKS},
    "certificates": set(),
    "calibrated-proofs": set(),
    "calibration": {f"{what}-{task}" for what in ("calibrated", "table") for task in TASKS}
    | {"before-after"},
    "early": {"early"},
    "noise": {"noise-5", "noise-20"},
    "transfer": {"decoder", "times-2", "tagging", "reachability"},
    "attention": {"right-then-lost", "lines"},
    "published-calibration": {f"{what}-{task}" for what in ("published", "table") for task in TASKS[:3]},
    "kappa": {"kappa-addition", "kappa-successor"},
    "transfer-rivals": {"rivals-tagging", "rivals-reachability"},
    "division": {"division"},
    "encoders": {"encoder-tagging", "encoder-addition"},
    "text": {"text"},
}  # fmt: skip
CALIBRATED = {"first-exact", "lines", "transparent"}
TEXT = {"text": {"exact"}}  # no exact match of running text
METRICS = {
    "certificates": {"proved", "in-float32", "contexts", "wrong", "margin", "refused"},
    "calibrated-proofs": {"first-exact", "bounded", "proved"},
    "calibration": CALIBRATED,
    "early": CALIBRATED,
    "noise": CALIBRATED,
    "transfer": CALIBRATED,
    "published-calibration": CALIBRATED,
    "kappa": CALIBRATED,
    "division": CALIBRATED,
    "encoders": CALIBRATED,
    "text": CALIBRATED | {"perplexity"},
    "attention": {
        "attention-on-column",
        "one-head-on-column",
        "weight-on-columns",
        "lines-in-common",
        "lines-by-chance",
    },
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "early" else [pytest.mark.full]) for n in FIGURES]
)
def test_an_experiment_at_smoke_scale(name, tmp_path):
    (experiment,) = find(f"bias/{name}")

    def sweep(recipes):
        return [train(each, tmp_path / each.run_name) for each in recipes]

    lab = Lab("smoke", [0], sweep)
    collected = experiment.run(lab)
    assert {r["metric"] for r in collected.rows} >= METRICS.get(name, set()) | (
        {"exact"} - TEXT.get(name, set())
    )
    drawn = tmp_path / "figures"
    drawn.mkdir()
    experiment.draw(DrawingContext("smoke", collected.rows, drawn, lab.kept))
    assert {path.stem for path in drawn.glob("*.png")} == FIGURES[name]
    keys = [(r["run"], r["recipe"], r["length"], r["slice"], r["metric"], r["checkpoint"]) for r in collected.rows]  # fmt: skip
    assert len(keys) == len(set(keys)), "a row is there twice"


@pytest.mark.parametrize(
    "name", ["addition-vanilla", "successor-vanilla-covered", "parity-vanilla"]
)
def test_the_training_set_of_the_paper_is_drawn_once(name):
    """Seven eighths of 2^20 problems; with 30 in their place, hundreds of samples are no more than 30 different ones."""
    sampler = recipe(f"bias/{name}", "paper").as_json()["data"]["sampler"]
    assert sampler == {"name": "finite", "count": 917_504, "inner": "lengths"}
    fewer = {"data": {"sampler": {**sampler, "count": 30}}, "train": {"batch": 64}}
    built = build(recipe(f"bias/{name}", "paper", **fewer))
    asked = {tuple(row) for k in range(5) for row in built.batch_at(k).source.tokens.tolist()}
    assert 5 <= len(asked) <= 30
