"""Linear attention on a ring: closed forms against loops, autograd, samples, and the limits that the paper proves."""

import math

import pytest
import torch
from torch.testing import assert_close

from tenfold.core.errors import TenfoldError
from tenfold.features.linear_attention.linear_attention import (
    Absolute,
    Problem,
    RelativeAttention,
    State,
    direction,
    start,
)
from tenfold.features.linear_attention.ring import Ring, distances, fixed, shifted, together
from tenfold.features.linear_attention.ring_contest import contest
from tenfold.features.linear_attention.ring_descent import (
    Descent,
    LearnedWeights,
    _sample_gradient,
    descend,
    flow,
    logistic,
    sampled,
    sampled_loss,
)
from tenfold.ledger.claims import read_claims
from tenfold.ledger.experiments import Lab, find

MODELS = ["absolute", "reading", "relative"]  # "reading": absolute, with v learned


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def small(model, windows=shifted, length=7, window=4, width=5):
    """A problem with two neighbours, and a model with random vectors and a random v."""
    generator = seeded(1)
    ring = Ring(length, 1.5, (0.4, -0.3))
    problem = Problem(ring, windows(length, window), direction(width, generator))
    attention = {
        "absolute": Absolute(),
        "reading": Absolute(learns_v=True),
        "relative": RelativeAttention(direction(width, generator)),
    }[model]
    return problem, attention, start(problem, attention, generator)


def by_hand(problem, attention, state, window, x):
    """The loss of one sample, by the definitions: x (N, D) is zero outside the window."""
    n, ring, loss = problem.ring.length, problem.ring, 0.0
    for i in range(n):
        if not window[i]:
            continue
        truth, read = ring.alpha * (x[i] @ problem.theta), 0.0
        for k, beta in enumerate(ring.betas, 1):
            truth = truth + beta * ((x[i - k] + x[(i + k) % n]) @ problem.theta)
        for r in range(n):
            vectors = (
                (state.p[(i - r) % n], attention.u)
                if isinstance(attention, RelativeAttention)
                else (state.p[i], state.p[r])
            )
            read = read + (vectors[0] @ vectors[1]) * (state.v @ x[r])
        loss = loss + (read - truth) ** 2
    return loss


def leaves(state):
    return State(*(part.clone().requires_grad_() for part in state))


@pytest.mark.parametrize("windows", [fixed, shifted])
@pytest.mark.parametrize("model", MODELS)
def test_the_gradient_is_that_of_the_loss(model, windows):
    problem, attention, state = small(model, windows)
    at = leaves(state)
    problem.loss(attention.scores(at.p), at.v).backward()
    found = problem.gradient(attention, state)
    assert_close(found.p, at.p.grad, rtol=1e-12, atol=1e-12)
    if attention.learns_v:
        assert_close(found.v, at.v.grad, rtol=1e-12, atol=1e-12)
    else:
        assert not found.v.any()


@pytest.mark.parametrize("model", MODELS)
def test_the_gradient_of_samples_is_that_of_their_loss(model):
    problem, attention, state = small(model)
    which = [0, 5, 5]
    at = torch.stack([problem.windows[w].nonzero()[:, 0] for w in which])
    x = torch.randn(3, 4, 5, generator=seeded(), dtype=torch.float64)
    leaf, total = leaves(state), 0.0
    for sample, w in enumerate(which):
        whole = torch.zeros(7, 5, dtype=torch.float64)
        whole[at[sample]] = x[sample]
        total = total + by_hand(problem, attention, leaf, problem.windows[w], whole) / 3
    total.backward()
    found = _sample_gradient(problem, attention, state, at, x)
    assert_close(found.p, leaf.p.grad, rtol=1e-11, atol=1e-11)
    if attention.learns_v:
        assert_close(found.v, leaf.v.grad, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("windows", [fixed, shifted])
@pytest.mark.parametrize("model", MODELS)
def test_samples_agree_with_the_closed_form(model, windows):
    """200,000 samples: no entry further than five of its standard errors."""
    problem, attention, state = small(model, windows)
    gradient = sampled(problem, attention, 2000, seeded())
    drawn = [gradient(state) for _ in range(100)]
    exact = problem.gradient(attention, state)
    for part in range(2 if attention.learns_v else 1):
        each = torch.stack([one[part] for one in drawn])
        error = each.std(0) / math.sqrt(len(drawn))
        trained = error > 0  # outside one window nothing is drawn
        assert bool(trained.any())
        assert float(((each.mean(0) - exact[part]).abs()[trained] / error[trained]).max()) < 5
        assert not exact[part][~trained].any()


@pytest.mark.parametrize("model", MODELS)
def test_test_losses_agree_with_samples(model):
    problem, attention, state = small(model)
    learned = LearnedWeights(problem, attention, state)
    found = sampled_loss(learned, 50_001, seeded())
    # a squared normal number has mean m and variance 2 m^2
    assert_close(found, learned.by_position, rtol=5 * math.sqrt(2 / 50_001), atol=0.0)
    assert learned.test_loss == pytest.approx(float(learned.by_position.mean()))


def test_training_on_everything_is_testing():
    problem, attention, state = small("relative", fixed, window=7)
    scores = attention.scores(state.p)
    whole = problem.loss_by_position(scores, state.v).sum()
    assert_close(problem.loss(scores, state.v), whole)


@pytest.mark.parametrize(("length", "window"), [(9, 1), (9, 4), (9, 7), (8, 8)])
def test_pairs_are_counted_around_the_ring(length, window):
    counts = torch.zeros(length, length, dtype=torch.float64)
    for first in range(length):
        inside = [(first + step) % length for step in range(window)]
        for i in inside:
            for r in inside:
                counts[i, r] += 1
    assert_close(length * together(shifted(length, window)), counts)
    if 2 * window - 1 <= length:  # the paper's count
        assert_close(counts, (window - distances(length)).clamp(min=0).double())


def test_the_task_is_its_sum():
    ring = Ring(9, 2.0, (0.5, 0.25))
    s = torch.randn(9, generator=seeded(), dtype=torch.float64)
    y = ring.target() @ s
    for i in range(9):
        near = 0.5 * (s[i - 1] + s[(i + 1) % 9]) + 0.25 * (s[i - 2] + s[(i + 2) % 9])
        assert_close(y[i], 2.0 * s[i] + near)
    assert ring.power == pytest.approx(float(ring.target()[0].square().sum()))


@pytest.mark.parametrize("neighbours", [0, 1, 2, 5, 12])
def test_tapering_tasks_can_be_expressed(neighbours):
    ring = Ring.tapering(51, 2.0, neighbours)
    assert float(torch.linalg.eigvalsh(ring.target()).min()) >= 1.0 - 1e-12
    assert ring.unreachable(51) == 0


@pytest.fixture(scope="module")
def learned():
    """The three of Figure 9, smaller: n = 31, a window of 8, d = 120."""
    cases = contest(Ring.tapering(31, 2.0, 1), window=8, width=120, seed=0, steps=3000)
    return cases, {name: case.learn() for name, case in cases.items()}


def test_absolute_vectors_outside_the_window_only_decay(learned):
    cases, found = learned
    how, state = cases["absolute"].how, found["absolute"].state
    left = (1 - how.rate * how.decay) ** how.steps
    assert left < 0.003
    assert_close(state.p[8:], left * cases["absolute"].state.p[8:], rtol=1e-9, atol=1e-12)


def test_absolute_loss_beyond_the_window_is_that_of_saying_nothing(learned):
    losses, power = learned[1]["absolute"].by_position, 2.0**2 + 2 * 0.5**2
    assert_close(losses[8:] / power, torch.ones(23, dtype=torch.float64), rtol=1e-3, atol=0.0)
    assert float(losses[1:7].max()) < 1e-3
    assert_close(losses[[0, 7]], torch.full((2,), 0.5**2, dtype=torch.float64), rtol=0.01, atol=0.0)


@pytest.mark.parametrize("model", ["absolute", "augmented"])
def test_decay_takes_a_known_part_of_the_diagonal(learned, model):
    """At rest q (S - T) = -decay/4 on the diagonal and 0 beside it, wherever pairs are trained."""
    case, found = learned[0][model], learned[1][model]
    inside = case.problem.together.diagonal() > 0
    held = (case.problem.together * (found.scores - case.problem.target))[inside][:, inside]
    assert_close(held, -case.how.decay / 4 * torch.eye(len(held), dtype=torch.float64), rtol=1e-5, atol=1e-8)  # fmt: skip


def test_a_gram_matrix_cannot_have_negative_eigenvalues():
    """alpha < 2 |beta|: the training loss stops at the squares of the target's negative eigenvalues."""
    ring, generator = Ring(15, 1.0, (0.9,)), seeded()
    problem = Problem(ring, fixed(15, 6), direction(30, generator))
    state = start(problem, Absolute(), generator)
    found = descend(problem, Absolute(), state, Descent(4000, 0.03))
    assert ring.unreachable(6) > 0.3
    assert 6 * found.train_loss == pytest.approx(ring.unreachable(6), rel=1e-3)


def test_shifted_windows_leave_far_pairs_alone(learned):
    found = learned[1]["augmented"]
    off, far = found.effective - found.problem.target, distances(31) >= 8
    assert float(off[~far].abs().max()) < 0.03
    assert float(off[far].square().mean().sqrt()) > 0.1
    assert found.test_loss > 100 * found.train_loss
    ours = float(off[far].square().sum()) / 31
    assert found.test_loss == pytest.approx(ours, rel=0.01)


def test_shifted_windows_lose_more_on_longer_rings_and_less_with_more_width():
    def loss(length, width):
        case = contest(Ring.tapering(length, 2.0, 1), 6, width, seed=0, steps=600)["augmented"]
        return case.learn().test_loss

    first = loss(25, 100)
    assert loss(49, 100) > 1.5 * first
    assert loss(25, 200) < 0.75 * first


def test_relative_positions_find_the_task(learned):
    found = learned[1]["relative"]
    assert_close(found.effective, found.problem.target, rtol=0.0, atol=0.02)
    assert float(found.by_position.max()) < 1e-3
    v, theta = found.state.v, found.problem.theta
    assert abs(float(v @ theta)) / float(v.norm()) == pytest.approx(1.0, abs=1e-4)  # or -theta


def test_without_decay_relative_positions_keep_what_they_never_saw(learned):
    """Differences of 8 and more are in no window; their coefficients stay, and so does their loss."""
    case = learned[0]["relative"].without_decay()
    found, unseen = case.learn(), slice(8, 31 - 7)
    before, after = (state.p @ case.attention.u for state in (case.state, found.state))
    assert_close(after[unseen], before[unseen], rtol=0.0, atol=0.0)
    along = float(found.state.v @ found.problem.theta)
    left = along**2 * float(before[unseen].square().sum())
    assert found.train_loss < 1e-9
    assert found.test_loss == pytest.approx(left, rel=1e-4)
    assert left > 0.05


@pytest.mark.parametrize("seed", [0, 1])
def test_the_logistic_curve(seed):
    """Windows of one position, beta = 0, loss summed over windows: the paper's 8 alpha is right."""
    generator, n, alpha = seeded(seed), 20, 2.0
    problem = Problem(Ring(n, alpha), shifted(n, 1), direction(40, generator))
    first = start(problem, Absolute(), generator)

    def summed(state):
        return State(n * problem.gradient(Absolute(), state).p, torch.zeros_like(state.v))

    gram = first.p @ first.p.T
    for time, state in flow(summed, first, until=1.0, steps=200):
        lengths = logistic(time, gram.diagonal(), alpha)
        assert_close(state.p.square().sum(1), lengths, rtol=1e-6, atol=0.0)
    assert_close(lengths, torch.full_like(lengths, alpha), rtol=1e-6, atol=0.0)
    grown = (alpha / gram.diagonal()).sqrt()  # each vector's own factor, to the power 1
    assert_close(state.p @ state.p.T, grown[:, None] * gram * grown, rtol=1e-5, atol=1e-7)


def test_the_loss_of_single_positions_is_n_over_d():
    """Angles stay, so the loss is alpha^2 times the mean sum of squared cosines, (n - 1)/d for random vectors."""
    generator, n, d = seeded(), 81, 400
    problem = Problem(Ring(n, 2.0), shifted(n, 1), direction(d, generator))
    state = start(problem, Absolute(), generator)
    found = descend(problem, Absolute(), state, Descent(300, rate=n / 32))
    assert found.train_loss < 1e-12
    assert found.test_loss == pytest.approx(4 * (n - 1) / d, rel=0.05)


def test_translation_invariant_vectors_follow_the_papers_equation():
    """Equation D.8 for windows of 2w + 1, and Lemma D.1: inner products stay a function of the difference."""
    n, w, alpha, beta = 11, 2, 2.0, 0.7
    problem = Problem(Ring(n, alpha, (beta,)), shifted(n, 2 * w + 1), direction(n, seeded()))
    a = torch.zeros(n, dtype=torch.float64)
    for j, value in enumerate([1.3, 0.3, -0.2, 0.1, 0.15, -0.1]):
        a[j] = a[-j] = value
    place = torch.arange(n)
    gram = a[(place[:, None] - place) % n]
    p = torch.linalg.cholesky(gram)
    by = n * problem.gradient(Absolute(), State(p, problem.theta)).p
    moves = -(by @ p.T + p @ by.T)
    for j in range(n):
        expected = 8 * (2 * w + 1) * (alpha - a[0]) * a[j]
        for r in range(1, 2 * w + 1):
            expected -= 8 * (2 * w + 1 - r) * a[r] * (a[(j - r) % n] + a[(j + r) % n])
        expected += 16 * w * beta * (a[(j + 1) % n] + a[(j - 1) % n])
        for k in range(n):
            assert_close(moves[k, (k + j) % n], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", ["absolute", "augmented", "relative"])
def test_simulation_agrees_with_the_closed_form(learned, model):
    case, exact = learned[0][model], learned[1][model]
    found = case.simulate(seeded(3), batch=64)
    assert [step for step, _ in found.curve] == [step for step, _ in exact.curve]
    assert found.curve[0] == exact.curve[0]
    assert found.train_loss < 2 * exact.train_loss
    assert_close(found.effective, exact.effective, rtol=0.0, atol=0.05)
    assert found.test_loss == pytest.approx(exact.test_loss, rel=0.05, abs=2e-4)


def test_what_cannot_be_is_one_line():
    with pytest.raises(TenfoldError, match="a ring of 4 positions with 2 neighbours"):
        Ring(4, 1.0, (0.1, 0.1))
    with pytest.raises(TenfoldError, match="a window of 6 positions on a ring of 5"):
        shifted(5, 6)
    with pytest.raises(TenfoldError, match="theta has length 2; it has to be 1"):
        Problem(Ring(3, 1.0), fixed(3, 2), torch.tensor([2.0, 0.0]).double())
    with pytest.raises(TenfoldError, match="windows over 4 positions for a ring of 3"):
        Problem(Ring(3, 1.0), fixed(4, 2), torch.tensor([1.0]).double())
    with pytest.raises(TenfoldError, match="0 steps at width 5"):
        contest(Ring(3, 1.0), 2, width=5, seed=0, steps=0)
    problem, attention, state = small("absolute")
    with pytest.raises(TenfoldError, match=r"descent diverged by step \d+; try a rate below 9"):
        descend(problem, attention, state, Descent(100, 9.0))


def test_the_experiment_measures_what_its_claims_ask_for():
    experiment = find("symmetry/linear-attention")[0]
    found = experiment.run(Lab("smoke", [4], list))
    assert {row["seed"] for row in found.rows} == {4}
    assert all(math.isfinite(row["value"]) for row in found.rows)
    claims = [each for each in read_claims("symmetry").claims if each.experiment == experiment.name]
    assert len(claims) == 9
    for claim in claims:
        for condition in claim.shown:
            for cell in condition.where.over(claim.where).each():
                assert len(cell.rows(found.rows)) == 1, f"{claim.id}: {cell.describe()}"
