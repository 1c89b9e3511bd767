"""Experiments of the `extrapolation` paper that measure its language models again, at smoke scale and on few encodings."""

import warnings

import numpy as np
import pytest
import torch

from tenfold.encodings import FIRE, ALiBi, Inverse, Learned, Power, Sandwich
from tenfold.features.reach.series_by_name import series_of
from tenfold.ledger.experiments import DrawingContext, Lab, find
from tenfold.papers.extrapolation.convergence import (
    added,
    converges,
    perplexities,
    rise,
    rise_over_minimum,
    series_in,
    settled,
)
from tenfold.results.collect import collect
from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe
from tenfold.runs.train import train

KINDS = ("alibi", "kerple-log", "inverse", "nope", "sandwich", "power-2")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Six models after two steps each; one cache: the standard library is written once."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENFOLD_CACHE", str(tmp_path_factory.mktemp("cache")))
        made = Lab("smoke", [0], lambda recipes: [train(r, folder / r.run_name) for r in recipes])
        few = {"train": {"steps": 2}}
        made.sweep([recipe(f"extrapolation/code-{kind}", "smoke", **few) for kind in KINDS])
        yield made


def measured(name, lab):
    (experiment,) = find(f"extrapolation/{name}")
    return experiment, experiment.measure(lab)


def drawn(experiment, rows, folder):
    """The names of its figures; rows as they would be committed."""
    experiment.draw(DrawingContext("smoke", [{"slice": "", **row} for row in rows], folder))
    return {path.stem for path in folder.glob("*.png")}


def by(rows, metric):
    return {
        (row["recipe"].removeprefix("extrapolation/"), row.get("slice", "")): row["value"]
        for row in rows
        if row["metric"] == metric
    }


def test_one_head_that_diverges_decides():
    alibi, inverse = ALiBi(heads=4).series(), Inverse(heads=4).series()
    assert converges([alibi]) is True
    assert converges([alibi, inverse]) is False
    assert series_of(FIRE(heads=4)) is None


@pytest.mark.parametrize(
    ("pe", "in_the_limit_alone"),
    [(Sandwich(heads=4), True), (Inverse(heads=4), False), (Learned(width=8), False)],
)
def test_what_diverges_in_practice_adds_weight_to_every_head(pe, in_the_limit_alone):
    series = series_of(pe)
    assert converges([series]) is False
    assert settled([series], 128) is in_the_limit_alone


def test_what_a_longer_text_adds_is_what_plain_sums_say():
    series = Power(heads=2, power=0.5).series()
    b = series.log_b(torch.arange(18 * 20, dtype=torch.float64)).exp()
    expected = b.sum(1) / b[:, :20].sum(1) - 1
    torch.testing.assert_close(torch.tensor(added([series], 20)), expected, check_dtype=False)


@pytest.mark.full
def test_fields_are_compared_over_encodings(lab, tmp_path):
    experiment, rows = measured("receptive-fields", lab)
    names = {f"code-{kind}" for kind in KINDS}
    erf, trf = by(rows, "erf"), by(rows, "trf")
    assert {name for name, _ in erf} == names
    assert {slice for _, slice in erf} == {"uniform", "gradient", "input"}
    assert trf["code-nope", "uniform"] == 16  # of 16 weights of 1, 95% are more than 15
    assert trf["code-alibi", "drawn"] == trf["code-alibi", "uniform"]  # nothing is learned
    correlated = [row for row in rows if row["metric"] == "rank-correlation"]
    assert {"uniform", "drawn"} <= {row["slice"] for row in correlated}
    for row in correlated:
        assert -1 <= row["low"] <= row["value"] <= row["high"] <= 1
        assert row["n"] == len(KINDS)
    assert drawn(experiment, rows, tmp_path) == {"fields", "fields-gradient"}


@pytest.mark.full
def test_the_rate_is_compared_with_the_rise(lab, tmp_path):
    experiment, rows = measured("rate", lab)
    added_weights, rises = by(rows, "added"), by(rows, "rise")
    assert added_weights["code-nope", "uniform"] == 17
    assert rises["code-nope", ""] == rise(lab.runs[KINDS.index("nope")])
    slices = {slice for _, slice in by(rows, "rank-correlation")}
    convergent = [converges(series_in(run)) for run in lab.runs].count(True)
    assert slices == {"uniform", "least", "convergent"}
    (row,) = [
        r for r in rows if (r["metric"], r.get("slice")) == ("rank-correlation", "convergent")
    ]
    assert row["n"] == convergent
    assert drawn(experiment, rows, tmp_path) == {"rate"}


@pytest.mark.full
def test_scaling_and_precision_are_asked_of_the_same_models(lab, tmp_path):
    (experiment,) = find("extrapolation/robustness")
    grid = experiment.recipes("smoke", [0])
    rates = [r for r in grid if "-rate-" in r.name]
    assert {(r.pe.name, r.train.lr) for r in rates} == {
        (pe, rate) for pe in ("alibi", "inverse") for rate in (0.0005, 0.002, 0.004)
    }
    assert {r.name for r in grid} - {r.name for r in rates} == {
        f"extrapolation/code-{kind}" for kind in ("alibi", "inverse")
    }
    few = Lab("smoke", [0], lab.train)
    few.runs += [lab.runs[KINDS.index(kind)] for kind in ("alibi", "inverse")]
    few.sweep(rates[:1])
    _, rows = measured("robustness", few)
    rises = by(rows, "rise")
    precisions = {"float64", "bfloat16", "float16"}
    assert {slice for _, slice in rises} == {
        "",
        "times-0.8",
        "times-1.25",
        "log-length",
    } | precisions
    assert len(set(rises.values())) == len(rises) == 14  # each changes something
    assert max(by(rows, "float64-difference").values()) < 1e-5
    halves = [by(rows, f"{name}-difference").values() for name in ("float16", "bfloat16")]
    assert all(1e-9 < value < 0.01 for half in halves for value in half)
    assert max(halves[0]) < max(halves[1])  # three more bits
    assert [name for name, _ in by(rows, "erf")] == ["code-alibi-rate-0.25"]
    committed = [
        {
            **row,
            "recipe": run.recipe.name,
            "encoding": run.recipe.pe.name,
            "trained": 16,
            "task": "python-code",
            "seed": 0,
        }
        for run in few.runs
        for row in run.result()["rows"]
    ]
    assert drawn(experiment, committed, tmp_path) == {"rates"}


def test_prose_has_every_encoding_that_code_has():
    code, prose = (
        {r.name.partition("-")[2] for r in find(f"extrapolation/{name}")[0].recipes("laptop", [0])}
        for name in ("perplexity", "perplexity-prose")
    )
    assert code == prose
    assert len(code) == 17


def test_a_rise_is_seen_behind_a_fall():
    assert rise_over_minimum({1: 2.0, 2: 1.0, 128: 1.5}) == 1.5
    assert rise_over_minimum({1: 2.0, 2: 1.5, 128: 1.0}) == 1.0


def test_far_is_128_times_the_training_length_at_every_scale():
    (experiment,) = find("extrapolation/far")
    for scale in ("smoke", "laptop", "paper"):
        recipes = experiment.recipes(scale)
        assert len(recipes) == 48
        assert {max(r.eval.lengths) / r.data.length for r in recipes} == {128}
        assert all(r.eval.n % max(r.eval.lengths) == 0 for r in recipes)


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    """ALiBi and 1/n after two steps, read at 128 times their training length."""
    folder = tmp_path_factory.mktemp("far")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENFOLD_CACHE", str(tmp_path_factory.mktemp("cache")))
        made = Lab("smoke", [0], lambda recipes: [train(r, folder / r.run_name) for r in recipes])
        few = {"train": {"steps": 2}}
        made.sweep(
            [recipe(f"extrapolation/far-{kind}", "smoke", **few) for kind in ("alibi", "inverse")]
        )
        yield made


def committed_rows(lab):
    return [row for run in lab.runs for row in collect([run.folder]).rows]


@pytest.mark.full
def test_far_is_judged_over_the_minimum_of_the_curve(far, tmp_path):
    experiment, rows = measured("far", far)
    assert by(rows, "converges") == {("far-alibi", ""): 1.0, ("far-inverse", ""): 0.0}
    for run in far.runs:
        at = perplexities(run)
        assert set(at) == {16, 64, 2048}
        name = run.recipe.name.removeprefix("extrapolation/")
        expected = at[2048] / min(at.values())
        assert by(rows, "rise-over-minimum")[name, ""] == expected >= 1
    assert {row["length"] for row in rows} == {2048}
    assert drawn(experiment, committed_rows(far), tmp_path) == {"far", "rise-far"}


@pytest.mark.full
def test_cut_fields_are_measured_beside_the_whole(far, tmp_path):
    experiment, rows = measured("cut", far)
    changes, kept = by(rows, "cut-change"), by(rows, "kept")
    assert set(changes) == set(kept)
    assert {slice for name, slice in changes if name == "far-inverse"} == {"within"}
    shares = ("eps-0.5", "eps-0.05", "eps-0.01", "within")
    assert {slice for name, slice in changes if name == "far-alibi"} == {*shares}
    assert [kept["far-alibi", slice] for slice in shares[:3]] == [95, 407.5, 626.5]
    assert kept["far-alibi", "within"] <= 16
    assert set(by(rows, "cut-rise")) == {("far-alibi", "within"), ("far-inverse", "within")}
    assert all(0.5 < value < 2 for value in changes.values())
    assert drawn(experiment, rows, tmp_path) == {"cut"}


@pytest.mark.full
def test_books_and_wikipedia_are_read_from_local_copies(tmp_path, monkeypatch):
    """The two corpora of the hub, in miniature; nothing is downloaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("TENFOLD_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()
    for name in ("books", "wikipedia"):
        (tmp_path / name).mkdir()
        for part, count in (("train", 300), ("validation", 60), ("test", 60)):
            lines = [f"line {n} of the {part} of {name}\n" for n in range(count)]
            datasets.Dataset.from_dict({"text": lines}).to_parquet(
                tmp_path / name / f"{part}-00000-of-00001.parquet"
            )
    copies = {
        "books": {"folder": str(tmp_path / "books")},
        "wiki-book": {"wikipedia": str(tmp_path / "wikipedia"), "books": str(tmp_path / "books")},
    }
    for corpus, options in copies.items():
        made = Lab("smoke", [0], lambda few: [train(r, tmp_path / r.run_name) for r in few])
        made.sweep(
            [
                recipe(f"extrapolation/{corpus}-{kind}", "smoke", train={"steps": 2}).replace(
                    task={"name": corpus, **options}
                )
                for kind in ("alibi", "inverse")
            ]
        )
        experiment, rows = measured(f"perplexity-{corpus}", made)
        assert by(rows, "largest-rise")[f"{corpus}-convergent", ""] == rise(made.runs[0])
        assert by(rows, "smallest-rise")[f"{corpus}-divergent", ""] == rise(made.runs[1])
        (folder := tmp_path / f"figures-{corpus}").mkdir()
        figures = {f"perplexity-{corpus}", f"rise-{corpus}"}
        assert drawn(experiment, committed_rows(made), folder) == figures


def test_sums_differ_in_the_decoder_alone(tmp_path):
    (experiment,) = find("extrapolation/sums")
    recipes = experiment.recipes("smoke", [0])
    assert len({r.replace(pe="alibi", name="same").fingerprint for r in recipes}) == 1
    made = Lab("smoke", [0], lambda few: [train(r, tmp_path / r.run_name) for r in few])
    made.sweep(
        [r.replace(train={"steps": 2}) for r in recipes if r.pe.name in ("sandwich", "none")]
    )
    _, rows = measured("sums", made)
    assert by(rows, "converges") == {("sums-sandwich", ""): 0.0, ("sums-nope", ""): 0.0}
    trf, erf = by(rows, "trf"), by(rows, "erf")
    assert trf["sums-nope", ""] == 6  # of the tokens that 4 digits are answered by
    assert trf["sums-sandwich", ""] < 6
    assert set(erf) == set(trf)
    for each in rows:
        each["checkpoint"] = "best"
    assert drawn(experiment, rows, tmp_path) == {"sums-fields"}


def test_images_differ_in_the_encoder_alone():
    (experiment,) = find("extrapolation/images")
    for scale in ("smoke", "laptop", "paper"):
        recipes = experiment.recipes(scale, [0])
        assert {max(r.eval.lengths) / r.data.length for r in recipes} == {9}  # 3 x 3
        alike = {"encoder_pe": "none", "label": "bias", "name": "same"}
        assert len({r.replace(**alike).fingerprint for r in recipes}) == 1


@torch.no_grad()
def test_the_weight_of_two_patches_is_that_of_both_directions():
    """In the trained encoder as in theory: b(down) b(across), whatever side the other patch is on."""
    built = build(recipe("extrapolation/images-alibi", "smoke"))
    batch = built.source.batch(2, 16, np.random.default_rng(0), None)
    at = batch.source.places
    bias = built.model().reader().encodings[0].bias(at, at)  # (B|1, H, T, S)
    row, column = torch.arange(16) // 4, torch.arange(16) % 4
    for head, slope in enumerate((1 / 16, 1 / 256)):
        far = (row[:, None] - row).abs() + (column[:, None] - column).abs()
        torch.testing.assert_close(bias[0, head], -slope * far)


@pytest.mark.full
def test_images_are_measured_finer_and_larger(tmp_path):
    (experiment,) = find("extrapolation/images")
    made = Lab("smoke", [0], lambda few: [train(r, tmp_path / r.run_name) for r in few])
    kinds = ("alibi", "sinusoidal")
    made.sweep([recipe(f"extrapolation/images-{k}", "smoke", train={"steps": 2}) for k in kinds])
    _, rows = measured("images", made)
    assert {(row["slice"], row["metric"]) for row in rows} == {("canvas", "exact")}
    assert {row["length"] for row in rows} == {16, 36, 64, 144}
    own = [row for row in committed_rows(made) if row["metric"] == "exact"]
    assert {row["slice"] for row in own} == {"uniform"}
    assert drawn(experiment, [*committed_rows(made), *rows], tmp_path) == {"resolution", "canvas"}
