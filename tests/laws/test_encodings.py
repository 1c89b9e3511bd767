"""What every encoding obeys, in every model, in float64."""

import copy
import inspect
import warnings
from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch
from torch.testing import assert_close

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.batch import Batch, Tokens
from tenfold.data.places import Places
from tenfold.data.schemes import SCHEMES
from tenfold.data.tasks import samplers
from tenfold.encodings import ENCODINGS, SIZES, PositionalEncoding
from tenfold.encodings.steady import steady_of
from tenfold.models import MODELS, trace
from tenfold.runs.build import build
from tenfold.runs.recipe import Recipe

FACTORS = {"stretched"}  # axes that hold one number for a whole input, and no positions


def only_for(*models):
    """A law for these models alone."""

    def marked(test):
        test.models = models
        return test

    return marked


def quick_for(*encodings):
    """A law that takes long: in the quick tier for these encodings alone."""

    def marked(test):
        test.quick = encodings
        return test

    return marked


def in_one_layout(test):
    """A law about an encoding that has nothing to do with the layout: every encoding in one of its layouts."""
    test.in_one_layout = True
    return test


def without_options(test):
    """A law that looks at every example of an encoding itself: every encoding once a layout."""
    test.without_options = True
    return test


@pytest.fixture
def batch(model_name, make_batcher, ragged):
    options = {"frame": 6} if MODELS[model_name].layout == "in_place" else {}
    return make_batcher(MODELS[model_name].layout, **options)(ragged)


@pytest.fixture
def model(model_name, encoding, make_model):
    return make_model(model_name, encoding)


def moved(sequence, axis, by):
    if sequence is None:
        return None
    place = sequence.places[axis]
    further = torch.where(place >= 0, place + by, -1)
    return replace(sequence, places=sequence.places.add(**{axis: further}))


def first(sequence, count):
    valid = None if sequence.valid is None else sequence.valid[:, :count]
    return Tokens(sequence.tokens[:, :count], sequence.places.slice(0, count), valid)


def until_end(row, end):
    row = row.tolist()
    return row[: row.index(end) + 1] if end in row else row


@only_for("decoder")
def test_prefix_is_read_as_in_the_longer_sequence(model, make_batcher, ragged):
    sequence = make_batcher("causal")(ragged).sequence
    whole = model.head(model.stack(sequence))
    for count in range(1, len(sequence.places)):
        real = sequence.valid[:, :count]  # the logits of a pad are not read
        prefix = model.head(model.stack(first(sequence, count)))
        assert_close(prefix[real], whole[:, :count][real])


def read_logits(model, batch):
    """The logits at places within each row's answer budget; those beyond it are nobody's."""
    logits, valid = model(batch), batch.sequence.valid
    return logits if valid is None else logits[valid[:, -batch.read :]]


def test_shift_changes_nothing_exactly_where_declared(model, batch):
    pe = model.stack.encodings[0]
    assert pe.invariant <= pe.axes
    for axis in sorted(pe.axes):
        further = replace(
            batch, sequence=moved(batch.sequence, axis, 90), source=moved(batch.source, axis, 90)
        )
        try:
            difference = (read_logits(model, batch) - read_logits(model, further)).abs().max()
        except TenfoldError:
            assert axis not in pe.invariant
            continue
        if axis in pe.invariant:
            assert difference < 1e-10, axis
        elif axis != "role":  # roles are names: not every layout has those that matter
            assert difference > 1e-3, axis


def long_batch(model_name, make_batcher, task):
    layout = MODELS[model_name].layout
    options = {"frame": 50} if layout == "in_place" else {}
    long = task.sample(2, 50, np.random.default_rng(7), samplers.exact)
    return make_batcher(layout, **options)(long)


def test_ten_times_the_length_is_finite(model, model_name, make_batcher, task):
    assert model(long_batch(model_name, make_batcher, task)).isfinite().all()


@without_options
def test_beyond_its_limit_is_one_clear_error(model_name, encoding, make_batcher, task, make_model):
    """An encoding with a limit names it and what to change; one without a limit is finite."""
    batch = long_batch(model_name, make_batcher, task)
    for options in ENCODINGS[encoding["name"]].examples(8):
        small = {"name": encoding["name"], **options}
        pe = ENCODINGS.factory(Spec.model_validate(small), SIZES)(width=16, heads=2, head_size=8)
        if MODELS[model_name].layout not in pe.layouts:
            continue
        model = make_model(model_name, small)
        if model.stack.encodings[0].limit is None:
            assert model(batch).isfinite().all()
        else:
            with pytest.raises(TenfoldError, match=r"\d.* the input (reaches|spans) \d+.*; raise"):
                model(batch)


def test_undeclared_attention_is_one_clear_error(model_name, encoding, make_model):
    with pytest.raises(TenfoldError, match=r"not made for (two-way|causal|cross) attention"):
        make_model(model_name, encoding)


test_undeclared_attention_is_one_clear_error.refused = True


def test_gradient_reaches_every_parameter(model, batch):
    model(batch).pow(3).sum().backward()
    unreached = [
        name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0
    ]
    assert unreached == []
    for name, p in model.named_parameters():  # every head of an encoding, where it has heads
        for axis in (0, -1):
            if "encodings" in name and p.dim() and p.shape[axis] == 2:
                assert (p.grad.movedim(axis, 0).reshape(2, -1).abs().sum(1) > 0).all(), name


@in_one_layout
def test_saved_and_reloaded_answers_alike(model_name, encoding, model, batch, make_model):
    data = safetensors.torch.save(model.state_dict())
    other = make_model(model_name, encoding, lively=False)
    assert not torch.equal(other(batch), model(batch))
    other.load_state_dict(safetensors.torch.load(data))
    assert torch.equal(other(batch), model(batch))


@only_for("decoder", "seq2seq")
def test_cached_decoding_equals_uncached(model, batch, task):
    sequence, expected, logits = batch.sequence, torch.zeros_like(batch.target), []
    for place in range(batch.read):  # all from the start, for every answer token
        tokens = torch.cat([sequence.tokens[:, : batch.given], expected[:, :place]], 1)
        so_far = first(replace(sequence, tokens=tokens), tokens.shape[1])
        so_far = Batch(so_far, batch.target[:, : place + 1], batch.given, batch.source)
        logits.append(model(so_far)[:, -1])
        expected[:, place] = logits[place].argmax(-1)
    with trace(model, "head") as seen:
        answer = model.answer(batch)
    steps = len(seen["head"])  # decoding stops when every row has ended
    assert_close(torch.stack(seen["head"]), torch.stack(logits[:steps]))
    end, places = task.vocabulary.end, torch.arange(batch.given - 1, batch.given - 1 + batch.read)
    for row in range(len(batch)):  # nothing but the end after it, and beyond the row's own places
        for place in range(batch.read):
            ended = place >= steps or (expected[row, :place] == end).any()
            beyond = sequence.valid is not None and not sequence.valid[row, places[place]]
            assert answer[row, place] == (end if ended or beyond else expected[row, place])
    assert steps == batch.read or (answer[:, :steps] == end).any(1).all()


def test_a_row_alone_is_the_row_in_a_ragged_batch(
    model_name, model, batch, make_batcher, ragged, task
):
    options = {"frame": 6} if model.layout == "in_place" else {}
    batcher = make_batcher(model.layout, **options)
    together, answers = model(batch), model.answer(batch)
    for row in range(len(ragged)):
        alone = batcher(ragged.rows(slice(row, row + 1)))
        logits = model(alone)[0]
        assert_close(together[row, : len(logits)], logits)
        own = until_end(model.answer(alone)[0], task.vocabulary.end)
        assert answers[row].tolist()[: len(own)] == own


def test_padding_is_never_read(model_name, model, batch):
    """What stands in a pad's place changes no logit that is read."""
    changed = batch
    if batch.sequence.valid is not None:
        tokens = batch.sequence.tokens.masked_fill(~batch.sequence.valid, 3)
        changed = replace(changed, sequence=replace(batch.sequence, tokens=tokens))
    if batch.source is not None:
        tokens = batch.source.tokens.masked_fill(~batch.source.valid, 3)
        changed = replace(changed, source=replace(batch.source, tokens=tokens))
    assert torch.equal(read_logits(model, changed), read_logits(model, batch))


@in_one_layout
def test_runs_on_the_meta_device(model_name, encoding, batch, make_model):
    with torch.device("meta"):
        model = make_model(model_name, encoding)
    logits = model(batch.to("meta"))
    assert logits.is_meta
    assert logits.shape == (*batch.target.shape, 15)


@in_one_layout
def test_made_on_meta_and_filled_later(model_name, encoding, model, batch, make_model):
    """As large models are made: whatever is not in the state dict must not be lost."""
    with torch.device("meta"):
        hollow = make_model(model_name, encoding)
    hollow.to_empty(device="cpu").load_state_dict(model.state_dict())
    assert torch.equal(hollow(batch), model(batch))


@only_for("decoder")
def test_half_precision_does_not_miscount(model):
    """A bias or a mask at 4096 places is what it is in float64, to the precision of the parameters."""
    pe, far = model.stack.encodings[0], torch.arange(3900, 4096)[None]
    at = Places(**{axis: far % 5 if axis == "role" else far for axis in pe.axes | {"index"}})
    if pe.limit is not None or not pe.ways & {"bias", "visible", "normalise"}:
        pytest.skip("no bias or mask at that length")
    for dtype in (torch.bfloat16, torch.float16):
        check_half_precision(copy.deepcopy(pe), at, dtype)


def check_half_precision(pe, at, dtype):
    logits = torch.randn(1, 2, 3, 4096, generator=torch.Generator().manual_seed(0)).to(dtype)
    with torch.no_grad():
        for parameter in pe.parameters():
            parameter.copy_(parameter.to(dtype))
        exact = pe.bias(at, at), pe.visible(at, at)
        half = copy.deepcopy(pe).to(dtype)
        narrow = half.bias(at, at), half.visible(at, at)
        whole = half.normalise(logits, None).double().sum(-1)
        assert_close(whole, torch.ones(1, 2, 3).double(), rtol=0.02, atol=0.02)
    if exact[0] is not None:
        assert_close(narrow[0].double(), exact[0], rtol=2e-2, atol=2e-2)
    assert exact[1] is None or torch.equal(narrow[1], exact[1])


@only_for("decoder")
def test_a_pair_depends_on_itself_alone_exactly_where_declared(model, make_batcher, ragged):
    """What is added for a query and a key is the same with half of the other keys away; proofs rest on it."""
    pe, at = model.stack.encodings[0], make_batcher("causal")(ragged).sequence.places
    keep = torch.arange(1, at.count, 2)
    fewer = Places(**{axis: at[axis][:, keep] for axis in at})
    query_at = at.last(1)
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(5, 2, n, 8, generator=generator).double() for n in (1, at.count))
    x = torch.randn(5, at.count, 16, generator=generator).double()
    pairs = [
        (pe.scores(q, k, query_at, at), pe.scores(q, k[:, :, keep], query_at, fewer)),
        (pe.bias(query_at, at), pe.bias(query_at, fewer)),
        (pe.visible(query_at, at), pe.visible(query_at, fewer)),
    ]
    state = pe.state(x, at)
    if state is not None:
        part = pe.state_bias(state[:, :, keep], q, k[:, :, keep], query_at, fewer)
        pairs.append((pe.state_bias(state, q, k, query_at, at), part))
    same = [
        torch.allclose(whole[..., keep].double(), part.double(), rtol=0, atol=1e-10)
        for whole, part in pairs
        if whole is not None
    ]
    assert all(same) is not pe.reads_keys


@only_for("decoder")
def test_a_state_belongs_to_its_key_alone(model, make_batcher, ragged):
    """So that it can be cached: any keys by themselves have the same state, of the declared size."""
    pe, at = model.stack.encodings[0], make_batcher("causal")(ragged).sequence.places
    x = torch.randn(5, at.count, 16, generator=torch.Generator().manual_seed(0)).double()
    state = pe.state(x, at)
    assert (state is None) is (pe.features == 0)
    if state is None:
        return
    assert state.shape[0] == 5
    assert state.shape[2:] == (at.count, pe.features)
    for start, stop in ((0, 3), (3, 4), (4, at.count)):
        some = pe.state(x[:, start:stop], at.slice(start, stop))
        assert_close(some, state[:, :, start:stop])


@only_for("decoder", "encoder")
def test_weights_are_finite_and_read_visible_keys_alone(model):
    """Whatever turns logits into weights: hidden keys get none, and change nothing where they are taken away."""
    pe, generator = model.stack.encodings[0], torch.Generator().manual_seed(0)
    logits = torch.randn(3, 2, 5, 9, generator=generator).double()
    visible = torch.rand(3, 1, 5, 9, generator=generator) < 0.5
    visible[..., 2], visible[..., 8] = (
        True,
        False,
    )  # everybody sees somebody; the last key is hidden
    visible[0, 0, 0] = torch.arange(9) == 2  # one query sees a single key
    logits = logits.masked_fill(~visible, -torch.inf).requires_grad_()
    weights = pe.normalise(logits, visible)
    assert weights.isfinite().all()
    assert (weights >= 0).all()
    assert (weights.masked_select(~visible) == 0).all()
    assert_close(pe.normalise(logits[..., :8], visible[..., :8]), weights[..., :8])
    gradients = torch.autograd.grad(
        weights.square().sum(), [logits, *pe.parameters()], allow_unused=True
    )
    assert all(gradient is None or gradient.isfinite().all() for gradient in gradients)
    everything = torch.ones(1, 1, 1, 9, dtype=torch.bool)
    plain = torch.randn(3, 2, 5, 9, generator=generator).double()
    assert_close(pe.normalise(plain, None), pe.normalise(plain, everything))


def test_reads_only_the_axes_it_declares(model, batch):
    axes = set().union(*(m.axes for m in model.modules() if isinstance(m, PositionalEncoding)))

    def only(sequence):
        if sequence is None:
            return None
        kept = {axis: sequence.places[axis] for axis in axes or {"index"}}
        return replace(sequence, places=Places(**kept))

    few = replace(batch, sequence=only(batch.sequence), source=only(batch.source))
    assert torch.equal(model(few), model(batch))


def test_large_batches_read_as_small_ones(model, make_batcher, task):
    """Encodings may choose a faster form for many alike rows; it must say the same."""
    options = {"frame": 4} if model.layout == "in_place" else {}
    batcher = make_batcher(model.layout, **options)
    examples = task.sample(12, 4, np.random.default_rng(1), samplers.exact)
    together = model(batcher(examples))
    for row in range(12):
        assert_close(together[row], model(batcher(examples.rows(slice(row, row + 1))))[0])


class Plain(torch.nn.Module):
    """A model as `torch.export` takes it: tensors in, logits out."""

    def __init__(self, model, axes):
        super().__init__()
        self.model, self.axes = model, axes

    def forward(self, tokens, *places):
        at = Places(**dict(zip(self.axes, places, strict=True)))
        return self.model.head(self.model.stack(Tokens(tokens, at)))


@only_for("decoder")
@quick_for("alibi", "learned", "pairwise", "rotary", "t5")
def test_exports_with_dynamic_length_or_says_why_not(
    model_name, encoding, make_model, make_batcher, task
):
    model = make_model(model_name, encoding, layers=1)
    pe = model.stack.encodings[0]
    axes = sorted(pe.axes | {"index"})

    def given(length, rows=3):
        examples = task.sample(rows, length, np.random.default_rng(1), samplers.exact)
        sequence = make_batcher("causal")(examples).sequence
        return (sequence.tokens, *(sequence.places[axis].expand(rows, -1) for axis in axes))

    rows_and_tokens = {
        0: torch.export.Dim("rows", min=2, max=64),
        1: torch.export.Dim("tokens", min=2, max=4096),
    }
    plain, length = Plain(model, axes), rows_and_tokens
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.export's own
        arguments = (plain, given(3)), {"dynamic_shapes": (length, (length,) * len(axes))}
        if pe.not_exported:
            with pytest.raises(Exception, match=r"."):
                torch.export.export(*arguments[0], **arguments[1])
            return
        program = torch.export.export(*arguments[0], **arguments[1])
    for size, rows in ((3, 3), (5, 2), (11, 9)):
        assert_close(program.module()(*given(size, rows)), plain(*given(size, rows)))


def on_axis(encoding, axis):
    """The same encoding on another axis, or None if it has none to choose."""
    if "relation" in encoding:
        return {**encoding, "relation": {**encoding["relation"], "axis": axis}}
    takes = inspect.signature(ENCODINGS[encoding["name"]]).parameters
    return {**encoding, "axis": axis} if "axis" in takes else None


AXES = [name for name in SCHEMES.names() if name not in FACTORS]


@only_for("decoder")
def test_a_scheme_with_any_encoding(model_name, encoding, make_model, make_batcher, ragged):
    """Randomized ALiBi, cyclic sinusoids, coupled rotary: a scheme gives the axis, an encoding reads it."""
    number = ENCODINGS.names().index(encoding["name"])  # all schemes in turn
    check_scheme(AXES[number % len(AXES)], model_name, encoding, make_model, make_batcher, ragged)


@pytest.mark.full
@only_for("decoder")
def test_every_scheme_with_any_encoding(model_name, encoding, make_model, make_batcher, ragged):
    for scheme in AXES:
        check_scheme(scheme, model_name, encoding, make_model, make_batcher, ragged)


def check_scheme(scheme, model_name, encoding, make_model, make_batcher, ragged):
    placed = on_axis(encoding, scheme)
    if placed is None:
        pytest.skip("it has no axis to choose")
    options = {"randomized": {"limit": 300}, "floats": {"limit": 10, "parts": 5}}.get(scheme, {})
    bound = SCHEMES.bind(Spec(name=scheme, options=options))
    batch = make_batcher("causal", bound)(ragged, torch.Generator().manual_seed(0))
    model = make_model(model_name, placed)
    assert scheme in model.stack.encodings[0].axes
    logits = read_logits(model, batch)
    assert logits.isfinite().all(), scheme
    nowhere = torch.full_like(batch.sequence.places[scheme], -1)
    elsewhere = replace(batch.sequence, places=batch.sequence.places.add(**{scheme: nowhere}))
    moved_away = read_logits(model, replace(batch, sequence=elsewhere))
    assert not torch.allclose(moved_away, logits), scheme


@in_one_layout
def test_trains_on_addition(model_name, encoding, tmp_path):
    """Through the whole path: a recipe, a run's folder, a few steps, an examination."""
    recipe = Recipe(
        pe=encoding,
        format="in-place" if MODELS[model_name].layout == "in_place" else "reversed",
        data={"length": 2},
        model={"kind": model_name, "layers": 2, "width": 16, "heads": 2},
        train={"steps": 3, "batch": 4, "warmup": 1, "log_every": 1, "lr": 0.01},
        eval={"lengths": [2, 20], "slices": ["uniform"], "n": 2, "validation_n": 2},
    )
    before = build(recipe).model().state_dict()
    run = tenfold.train(recipe, out=tmp_path / "run")
    after = run.model("final").state_dict()
    still = [
        name for name in before if "encodings" in name and torch.equal(before[name], after[name])
    ]
    assert run.finished
    assert still == []
    assert {row["length"] for row in run.result()["rows"]} == {2, 20}


@only_for("decoder")
def test_what_is_declared_steady_is(model, batch):
    """What it adds is within its bounds, and bitwise identical wherever the input stands on an invariant axis."""
    at = batch.sequence.places
    generator = torch.Generator().manual_seed(0)
    for pe in (module for module in model.modules() if isinstance(module, PositionalEncoding)):
        steady = steady_of(pe)
        if steady is None:
            continue
        heads, size = model.stack.blocks[0].attention.heads, model.stack.blocks[0].attention.size
        q = torch.randn(len(batch), heads, len(at), size, generator=generator, dtype=torch.float64)
        x = torch.randn(len(batch), len(at), heads * size, generator=generator, dtype=torch.float64)
        weights = torch.rand(len(batch), heads, len(at), len(at), generator=generator).double()
        weights = weights / weights.sum(-1, keepdim=True)
        slack = 1 + 1e-9
        assert (pe.embed(x, at) - x).norm(dim=-1).max() <= steady.embed * slack + 1e-12
        added = {
            "scores": lambda at, pe=pe, q=q: pe.scores(q, q, at, at),
            "bias": lambda at, pe=pe: pe.bias(at, at),
            "values": lambda at, pe=pe, w=weights: pe.values(w, at, at),
        }
        most = {
            "scores": steady.scores * q.norm(dim=-1).max(),
            "bias": steady.bias,
            "values": steady.values,
        }
        for way, given in added.items():
            result = given(at)
            if result is None:
                continue
            length = result.norm(dim=-1) if way == "values" else result.abs()
            assert length.max() <= most[way] * slack + 1e-12
            for axis in sorted(pe.invariant & set(at)):
                further = at.add(**{axis: torch.where(at[axis] >= 0, at[axis] + 7, -1)})
                assert torch.equal(given(further), result)


@only_for("decoder")
def test_digits_are_told_apart_of_the_declared_roles_alone(model, batch):
    """Where `digits_of` names roles, another power of any other token changes nothing."""
    at = batch.sequence.places
    for pe in (module for module in model.modules() if isinstance(module, PositionalEncoding)):
        if not pe.digits_of:
            continue
        assert "significance" in pe.axes
        ours = torch.isin(at["role"], torch.tensor(sorted(pe.digits_of)))
        others = torch.where(ours, at["significance"], at["significance"] + 1)
        theirs = torch.where(ours, at["significance"] + 1, at["significance"])
        q = torch.ones(len(batch), 2, len(at), 8, dtype=torch.float64)

        def added(at, pe=pe, q=q):
            parts = [pe.scores(q, q, at, at), pe.bias(at, at)]
            return torch.cat([part.flatten() for part in parts if part is not None])

        assert torch.equal(added(at.add(significance=others)), added(at))
        assert not torch.equal(added(at.add(significance=theirs)), added(at))


@only_for("decoder", "seq2seq")
def test_nothing_is_seen_beyond_a_declared_window(model):
    """`window` is an upper bound of `visible`: fast decoding and proofs rest on it."""
    for columns in (10, 100, 1000):
        check_windows(model, columns)


def check_windows(model, columns):
    generator = torch.Generator().manual_seed(columns)
    drawn = torch.randint(-1, columns, (1, 4 * columns), generator=generator)
    role = torch.randint(0, 6, drawn.shape, generator=generator)
    some = torch.randperm(drawn.shape[1], generator=generator)[:64]
    for pe in (module for module in model.modules() if isinstance(module, PositionalEncoding)):
        for axis in sorted(pe.axes):
            span = pe.window(axis)
            if span is None:
                continue
            at = Places(
                **{name: role if name == "role" else drawn for name in {*pe.axes, "role", "column"}}
            )
            q_at = Places(**{name: at[name][:, some] for name in at})
            visible = pe.visible(q_at, at)
            assert visible is not None  # bounded, but nothing is hidden
            place, key = q_at[axis].unsqueeze(-1), at[axis].unsqueeze(-2)
            behind, hubs = place - key, torch.tensor(sorted(span.hubs), dtype=torch.long)
            k_hub = torch.isin(at["role"], hubs).unsqueeze(-2)
            q_hub = torch.isin(q_at["role"], hubs).unsqueeze(-1)
            answer = (at["role"] == 2).unsqueeze(-2)
            within = (place >= 0) & (key >= 0) & (behind <= span.behind) & (behind >= -span.ahead)
            within = within & ~(answer & (behind > span.answers)) & ~q_hub
            assert not (visible & ~(within | k_hub).unsqueeze(1)).any(), axis
