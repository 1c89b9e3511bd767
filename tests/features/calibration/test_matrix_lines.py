"""Lines of the matrix of indices: the procedure of the paper, beside the same by plain loops."""

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED
from tenfold.data.places import Places
from tenfold.data.tasks import samplers
from tenfold.encodings import Attends, Calibrated
from tenfold.encodings.calibrated import UNSEEN, line_of
from tenfold.features.calibration.calibrate import AS_CODED, PUBLISHED
from tenfold.features.calibration.line_selection import Rules, find, highest_z
from tenfold.features.calibration.mean_attention import STEPS, Average, Track, average
from tenfold.models.layers import Attention

RULES = Rules(
    lines="matrix", best="direction", source="last", kappa_self=0.87, kappa_cross=1.5, scores="logits"
)  # fmt: skip


def walked(rows, columns, step):
    """The lines of a matrix, each as its cells: from every cell that none leads to, on and on."""
    lines = []
    for i, j in np.ndindex(rows, columns):
        if i == 0 or not 0 <= j - step < columns:
            line = []
            while i < rows and 0 <= j < columns:
                line.append((i, j))
                i, j = i + 1, j + step
            lines.append(line)
    return lines


@pytest.mark.parametrize("crossing", [True, False])
@pytest.mark.parametrize("step", sorted(STEPS.values()))
def test_cells_of_one_line_have_one_number(step, crossing):
    q, k = Places(index=torch.arange(4)[None]), Places(index=torch.arange(7)[None])
    number, present = line_of(step, q, k, crossing)
    assert present.all()
    lines = walked(4, 7, step)
    assert sum(map(len, lines)) == 28
    numbers = [{int(number[0, i, j]) for i, j in line} for line in lines]
    assert {len(each) for each in numbers} == {1}
    assert len(set.union(*numbers)) == len(lines)


def test_falling_lines_begin_at_the_same_corner_of_a_wider_question():
    q = Places(index=torch.arange(3)[None])
    narrow, wide = (Places(index=torch.arange(n)[None]) for n in (5, 9))
    corner = line_of(-1, q, narrow, crossing=True)[0][0, 0, -1]
    assert corner == line_of(-1, q, wide, crossing=True)[0][0, 0, -1] == 0
    padded = Places(index=torch.tensor([[-1, -1, 0, 1, 2]]))  # shorter rows are padded on the left
    number, present = line_of(-1, q, padded, crossing=True)
    assert (number[0, 0, -1], present[0, 0].tolist()) == (0, [False, False, True, True, True])


def by_loops(mean, kappa, seen):
    """The paper's bias of one head from its mean attention; None where the head keeps nothing."""
    rows, columns = mean.shape
    bias = np.full(mean.shape, -np.inf)
    for step in (1, -1, 0):
        lines = [[c for c in line if seen[c]] for line in walked(rows, columns, step)]
        lines = [line for line in lines if line]
        d = np.array([np.mean([mean[c] for c in line]) for line in lines])
        kept = d > d.mean() + kappa * d.std()
        for line, value in zip(np.flatnonzero(kept), d[kept] - d.max(), strict=True):
            for cell in lines[line]:
                bias[cell] = max(bias[cell], value)
    return bias if (bias > -np.inf).any() else None


@pytest.fixture
def model_and_batch(make_batcher, make_model, monkeypatch):
    batcher = make_batcher("seq2seq", width=4, spare=1)
    batch = batcher(batcher.task.sample(12, 3, np.random.default_rng(0), samplers.lengths))
    model = make_model("seq2seq", "sinusoidal", layers=2, encoder_layers=0)
    monkeypatch.setattr(model, "answer", lambda batch: batch.target.clone())
    return model, batch


def test_the_whole_procedure_agrees_with_plain_loops(model_and_batch):
    model, batch = model_and_batch
    logits = {}
    for module in model.stack.blocks[-1].modules():
        if isinstance(module, Attention):
            name = "cross" if module.crossing else "causal"
            module.logits.register_forward_hook(
                lambda _m, _i, out, name=name: logits.__setitem__(name, out.detach())
            )
    heads, _ = find(average(model, [batch], kind="matrix"), RULES)
    q_at, sources = batch.sequence.places, {"causal": batch.sequence, "cross": batch.source}
    compared = 0
    for attention, kappa in (("causal", 0.87), ("cross", 1.5)):
        own = [head for head in heads if head.attention == attention]
        assert {head.layer for head in own} == {2}
        lines = [line for head in own for line in head.lines(None, False, "direction")]
        pe = Calibrated(2, lines)
        pe.serve(Attends(attention))
        bias = pe.bias(q_at, sources[attention].places)
        scores = logits[attention].double().numpy()
        seen = np.isfinite(scores[0, 0])
        for head in range(2):
            mean = np.where(seen, scores[:, head], 0).mean(0)
            expected = by_loops(mean, kappa, seen)
            if expected is None:
                assert not own[head].kept
                continue
            compared += 1
            expected = torch.tensor(np.where(np.isinf(expected), UNSEEN, expected))
            # cells ahead of a query have a bias that the causal mask hides
            shown = torch.where(torch.tensor(seen), bias[0, head].double(), UNSEEN)
            assert torch.allclose(shown, expected.where(torch.tensor(seen), UNSEEN), atol=1e-4)
    assert compared == 4


def test_wrong_answers_do_not_count(model_and_batch, monkeypatch):
    model, batch = model_and_batch
    wrong = batch.target.clone()
    graded = (wrong != IGNORED).double().argmax(1)
    for row in range(0, len(wrong), 2):
        wrong[row, graded[row]] = (wrong[row, graded[row]] + 1) % 10
    right = batch.rows(torch.arange(1, len(wrong), 2))
    (expected, *_), answer = average(model, [right], kind="matrix"), {"is": wrong}
    monkeypatch.setattr(model, "answer", lambda _batch: answer["is"])
    (found, *_) = average(model, [batch], kind="matrix", right_only=True)
    assert torch.equal(found.cells.nan_to_num(), expected.cells.nan_to_num())
    answer["is"] = torch.full_like(wrong, 0) - 1
    with pytest.raises(TenfoldError, match="no answer is right"):
        average(model, [batch], kind="matrix", right_only=True)


def corner():
    """Ten anti-diagonals of four rows: the fifth has most attention; the first is a corner of one cell that crosses another line."""
    cells = torch.full((1, 4, 10), 0.05, dtype=torch.float64)
    cells[0, :, 4] = 0.6
    cells[0, :, 0] = torch.tensor([0.9, torch.nan, torch.nan, torch.nan])
    lines = [Track("all", "anti-diagonal", "index", n, step=(1, -1)) for n in range(10)]
    return Average("cross", 1, tuple(lines), cells)


@pytest.mark.parametrize(("along", "kept"), [("mean", [0, 4]), ("sum", [4])])
def test_a_corner_of_the_matrix_is_strong_by_its_mean_alone(along, kept):
    rules = Rules(lines="matrix", along=along, kappa_share=0.39, scores="weights")
    ((head,), notes) = find([corner()], rules)
    assert sorted(line.offset for line in head.kept) == kept
    assert not notes


def test_the_kappas_of_the_paper_are_one_share_of_the_largest():
    """Six rows of the answer have 6 diagonals; with the 125 tokens of the question they have 130 anti-diagonals."""
    share = AS_CODED["kappa_share"]
    assert PUBLISHED["kappa_self"] / highest_z(6) == pytest.approx(share, abs=0.01)
    assert PUBLISHED["kappa_cross"] / highest_z(130) == pytest.approx(share, abs=0.01)
    rules = Rules(kappa_share=share, kappa_self=0.5)
    assert (rules.kappa("self", 6), rules.kappa("cross", 26)) == (0.5, share * 5)


def test_cross_attention_may_have_directions_of_its_own():
    rules = Rules(directions=("diagonal",), cross_directions=("anti-diagonal",), lines="matrix")
    assert (rules.searched("self"), rules.searched("cross")) == (("diagonal",), ("anti-diagonal",))
    assert Rules(directions=("diagonal",)).searched("cross") == ("diagonal",)
