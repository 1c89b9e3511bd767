"""A trained run, evaluated with another encoding in the place of its own."""

import json

import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.results.collect import query, read, write
from tenfold.results.committed import as_csv, read_rows
from tenfold.results.row_schema import COLUMNS, EMPTY
from tenfold.results.tables import Collected
from tenfold.runs.other_encoding import with_encoding
from tenfold.runs.run import Run
from tenfold.runs.train import train

YARN = {"name": "rotary-yarn", "factor": 4, "trained": 8}
SHARP = {"name": "log-length", "trained": 4}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def run(shelf, recipe):
    """A decoder with rotary positions."""
    return train(recipe.replace(pe="rotary", schemes=[]), shelf / "rotary")


@pytest.fixture
def pairwise(shelf, recipe):
    pe = {"name": "pairwise", "relation": {"name": "relative", "reach": 20}}
    return train(recipe.replace(pe=pe, schemes=[]), shelf / "pairwise")


def logits(model, built):
    batch = built.source.batch(4, 3, *_generators())
    with torch.no_grad():
        return model(batch)


def _generators():
    import numpy as np

    return np.random.default_rng(0), None


def test_it_is_the_other_model_with_the_trained_weights(run):
    given = with_encoding(run.recipe, run.weights(), {"pe": YARN}, run.folder)
    own = run.model().state_dict()
    assert all(torch.equal(own[name], value) for name, value in given.model.state_dict().items())
    assert given.built.recipe.pe.name == "rotary-yarn"
    assert not torch.allclose(
        logits(given.model, given.built), logits(run.model(), run.built), atol=1e-4
    )


def test_scaling_by_1_changes_nothing_but_the_mark(run):
    own = run.evaluate([2, 3, 5], n=50)
    same = run.evaluate([2, 3, 5], n=50, pe={"name": "rotary-linear", "factor": 1})
    assert {row.evaluated_pe for row in own} == {""}
    assert {row.evaluated_pe for row in same} == {"rotary-linear (factor 1)"}
    assert [row.value for row in own] == [row.value for row in same]


def test_options_alone_are_of_the_encoding_that_is_there(run):
    (row, *_) = run.evaluate([2], n=5, pe={"p": 0.5})
    assert row.evaluated_pe == "rotary (p 0.5)"


def test_weights_of_a_part_fit_a_composition(pairwise):
    """A temperature beside the trained encoding; up to the trained number of keys it does nothing."""
    own = pairwise.recipe.pe.model_dump(mode="json")
    wide = {"name": "compose", "parts": [own, {"name": "log-length", "trained": 1000}]}
    same = [row.value for row in pairwise.evaluate([2, 3], n=40, pe=wide)]
    assert same == [row.value for row in pairwise.evaluate([2, 3], n=40)]
    given = with_encoding(
        pairwise.recipe, pairwise.weights(),
        {"pe": {"name": "compose", "parts": [own, SHARP]}}, pairwise.folder,
    )  # fmt: skip
    assert not torch.allclose(
        logits(given.model, given.built), logits(pairwise.model(), pairwise.built), atol=1e-4
    )


@pytest.mark.parametrize(
    ("pe", "says"),
    [
        ("rotary", r"pairwise with rotary: trained weights would be lost: stack\.\S+table"),
        (["alibi", "t5"], "should be a valid dictionary"),
        ({"name": "pairwise", "relation": {"name": "relative", "reach": 21}}, "have other shapes"),
        ("kerple-log", "trained weights would be lost"),
    ],
)
def test_weights_that_do_not_fit(pairwise, pe, says):
    with pytest.raises(TenfoldError, match=says):
        pairwise.evaluate([2], n=5, pe=pe)


def test_weights_that_are_missing(run):
    with pytest.raises(TenfoldError, match=r"rotary with t5: there are no trained weights for \S+"):
        run.evaluate([2], n=5, pe="t5")


def test_the_parts_of_an_encoder_decoder(shelf, recipe):
    both = recipe.replace(pe="rotary", schemes=[], model={"kind": "seq2seq"}, cross_pe="none")
    run = train(both, shelf / "seq2seq")
    (row, *_) = run.evaluate([2], n=5, pe=YARN, cross_pe="rotary")
    assert row.evaluated_pe == "pe rotary-yarn (factor 4, trained 8), cross_pe rotary"
    (row, *_) = run.evaluate([2], n=5, encoder_pe="none")
    assert row.evaluated_pe == "encoder_pe none"


def test_command_line_marks_every_row(tenfold, run, tmp_path):
    flags = ("eval", run.folder, "--lengths", 2, "--n", 6, "--pe", "rotary-yarn", "--pe.factor", 4)
    code, out, _ = tenfold(*flags, "--json", "--log-samples", "samples.jsonl")
    assert code == 0
    assert {row["evaluated_pe"] for row in json.loads(out)} == {"rotary-yarn (factor 4)"}
    samples = map(json.loads, (tmp_path / "samples.jsonl").read_text().splitlines())
    assert {sample["evaluated_pe"] for sample in samples} == {"rotary-yarn (factor 4)"}
    assert "evaluated with rotary-yarn" in tenfold(*flags)[1]
    code, out, _ = tenfold(*flags[:6], "--json")
    assert {row["evaluated_pe"] for row in json.loads(out)} == {""}
    assert "evaluated with" not in tenfold(*flags[:6])[1]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--pe", "rotery"), 'did you mean "rotary"'),
        (("--pe.facter", "4"), "factor"),
        (("--lenghts", "5"), 'did you mean "--lengths"'),
        (("--train.lr", "3"), "--train"),
        (("--cross-pe", "none"), "has no cross_pe"),
        (("--pe", "t5"), "no trained weights for"),
    ],
)
def test_command_line_refuses(tenfold, run, flags, says):
    base = ("--pe", "rotary-yarn") if flags[0] == "--pe.facter" else ()
    code, out, err = tenfold("eval", run.folder, *base, *flags, "--n", 5)
    assert code != 0
    assert (out, err.count("\n")) == ("", 1)
    assert says in err


def test_a_log_beside_the_run_keeps_the_mark(run, tenfold, recipe, tmp_path):
    """Samples of both kinds can be told apart in SQL, and logs of older versions are read."""
    tenfold(
        "eval", run.folder, "--lengths", 2, "--n", 6, "--pe", "rotary-ntk", "--log-samples", "log"
    )
    marked = (tmp_path / "log").read_text()
    old = json.loads(marked.splitlines()[0])
    del old["evaluated_pe"]
    (tmp_path / "both").write_text(marked + json.dumps(old) + "\n")
    collected = Collected(logs=[tmp_path / "both"])
    _, rows = query(collected, "select evaluated_pe, count(*) from samples group by all order by 2")
    assert rows == [(None, 1), ("rotary-ntk", 6)]


def rows_of(make, evaluated_pe):
    made = {
        **dict.fromkeys(COLUMNS),
        **EMPTY,
        "recipe": "r",
        "metric": "exact",
        "value": 0.5,
        "n": 4,
    }
    return [made, {**made, "evaluated_pe": evaluated_pe}]


def test_rows_of_older_files_are_those_of_the_own_encoding(make, tmp_path):
    own, other = rows_of(make, "rotary-yarn (factor 4)")
    (tmp_path / "rows.csv").write_text(as_csv([own]))
    assert "evaluated_pe" not in (tmp_path / "rows.csv").read_text()  # as older versions wrote them
    assert read_rows(tmp_path / "rows.csv") == [own]
    (tmp_path / "rows.csv").write_text(as_csv([own, other]))
    assert read_rows(tmp_path / "rows.csv") == [own, other]
    assert list(read_rows(tmp_path / "rows.csv")[0]) == list(COLUMNS)


def test_older_parquet(tmp_path):
    import duckdb

    own, _ = rows_of(None, "")
    write(Collected([own]), tmp_path / "new")
    old = tmp_path / "old.parquet"
    duckdb.sql(
        f"copy (select * exclude evaluated_pe from '{tmp_path}/new/rows.parquet') to '{old}'"
    )
    assert read(old).rows == read(tmp_path / "new").rows
    assert read(old).rows[0]["evaluated_pe"] == ""


def test_results_leave_other_encodings_out_unless_asked(make, tmp_path, tenfold):
    own, other = rows_of(None, "rotary-yarn (factor 4)")
    place = tmp_path / "results/x/y/laptop"
    place.mkdir(parents=True)
    (place / "rows.csv").write_text(as_csv([{**own, "value": 1.0}, other]))
    code, out, err = tenfold("results", "results", "--by", "recipe", "--format", "json")
    assert (code, [line["median"] for line in json.loads(out or "[]")]) == (0, [1.0]), err
    code, out, _ = tenfold("results", "results", "--by", "evaluated_pe", "--format", "json")
    medians = {line["evaluated_pe"]: line["median"] for line in json.loads(out)}
    assert medians == {"": 1.0, "rotary-yarn (factor 4)": 0.5}


def test_opened_again(run):
    assert Run.open(run.folder).evaluate([2], n=5, pe="rotary-ntk")[0].evaluated_pe == "rotary-ntk"
