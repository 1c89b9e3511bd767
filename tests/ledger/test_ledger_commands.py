"""`tenfold claims` and `tenfold reproduce`, as a person uses them."""

import json
import re
from pathlib import Path

import pytest

import tenfold as package
from tenfold.core.errors import TenfoldError
from tenfold.ledger import changed_experiment
from tenfold.runs.recipe import Recipe
from tenfold.sweeps.sweep import plan
from tenfold.sweeps.sweep_text import expected_line

FIELDS = {
    "kind", "undecided", "worst_seed_fails", "reduced",
    "id", "paper", "place", "says", "how", "experiment", "also", "status", "ours", "theirs", "held", "of",
    "runs", "scale", "missing", "tried",
}  # fmt: skip
CLAIMS = """
paper: {title: A tiny paper, arxiv: "1"}
claims:
- id: counts
  place: Table 1
  says: it trains
  theirs: as many steps
  how: they are counted
  experiment: counting
  seeds: 2
  where: {recipe: tiny/adder, length: 2, slice: uniform}
  shown: [{at_least: 0}]
- id: never
  place: Table 2
  says: it is always right
  theirs: 100%
  how: at 3 digits
  experiment: counting
  seeds: 2
  where: {recipe: tiny/adder, length: 3}
  shown: [{at_least: 1}]
"""
EXPERIMENT = """
from tenfold.runs.recipe_files import recipe

def grid(scale):
    return [recipe("tiny/adder", seed=seed) for seed in (0, 1)]
"""


@pytest.fixture
def tiny(recipe, paper):
    """A paper whose runs take a second."""
    folder = paper("counting", EXPERIMENT)
    adder = recipe.replace(name="tiny/adder", claim="tiny/counts")
    (folder / "adder.yaml").write_text(adder.as_yaml())
    (folder / "claims.yaml").write_text(CLAIMS)
    return adder


def test_all_claims_as_json(tenfold):
    code, out, _ = tenfold("claims", "--json")
    claims = json.loads(out)
    assert code == 0
    assert len(claims) >= 40
    assert {each["paper"] for each in claims} == {
        "bias",
        "certified",
        "extrapolation",
        "principled",
        "symmetry",
    }
    assert all(set(each) == FIELDS and each["place"] for each in claims)
    one = next(each for each in claims if each["id"] == "symmetry/fig2-rpe-holds")
    assert one["status"] == "partly"
    assert (one["scale"], len(one["runs"]), one["missing"]) == ("laptop", 3, [])


def test_ids_are_never_cut_and_what_is_claimed_is_shown(tenfold, monkeypatch):
    """At any width, and when the output goes into a pipe, which has none."""
    _, out, _ = tenfold("claims", "--json")
    known = json.loads(out)
    for columns in ("60", "80", "200", None):
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns is not None:
            monkeypatch.setenv("COLUMNS", columns)
        _, out, _ = tenfold("claims")
        heads = [line for line in out.splitlines() if re.match(r"[a-z]+/", line)]
        assert [head.split()[0] for head in heads] == [each["id"] for each in known]
        assert all(each["status"] in head for each, head in zip(known, heads, strict=True))
        together = " ".join(out.split())
        for each in known:
            assert " ".join(f"{each['says']} ({each['place']})".split()) in together
        told = [line for line in out.splitlines() if line.startswith("  ")]
        assert max(map(len, told)) <= int(columns or 10**6)
        assert columns is None or max(map(len, told)) > 0.9 * min(int(columns), 100)


def test_a_list_for_people(tenfold):
    code, out, _ = tenfold("claims", "--paper", "symmetry", "--status", "reproduced")
    assert code == 0
    assert "symmetry/fig2-ape-collapses" in out
    assert "Figure 2(a)" in out
    assert "bias/" not in out
    assert re.search(
        r"\n\d+ claims; \d+ of the papers: \d+ reproduced \(\d+ of them with a seed that fails\); "
        r"\d+ by computation alone: \d+ reproduced$",
        out.rstrip(),
    )


def test_one_claim_in_full(tenfold):
    code, out, _ = tenfold("claims", "symmetry/fig2-rpe-holds")
    assert code == 0
    assert "addition-relative, 10 digits: at least 90.0%; 99.0%, holds" in out
    assert out.count("run: symmetry-addition-relative-") == 3
    assert "missing:" not in out
    _, out, _ = tenfold("claims", "symmetry/table1-shifted")
    assert "(published: 99.7%)" in out
    _, out, _ = tenfold("claims", "symmetry/table1-shifted", "--json")
    assert json.loads(out)["id"] == "symmetry/table1-shifted"


def test_a_claim_without_results_says_what_is_missing(tenfold, tiny):
    code, out, _ = tenfold("claims", "tiny/counts")
    assert code == 0
    reason = "the experiment tiny/counting has no committed results"
    assert f"missing: {reason}" in out
    _, out, _ = tenfold("claims", "tiny/counts", "--json")
    still = json.loads(out)
    assert (still["status"], still["ours"], still["runs"], still["scale"]) == ("open", "", [], None)
    assert (still["missing"], still["also"]) == ([reason], [])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("claims", "symmetry/fig2"), 'unknown claim "symmetry/fig2"'),
        (("claims", "--paper", "simmetry"), 'unknown paper "simmetry"; did you mean "symmetry"?'),
        (("claims", "--status", "opne"), 'unknown status "opne"; did you mean "open"?'),
        (("claims", "symmetry/fig2-rpe-holds", "--status", "open"), "leave --paper, --status"),
        (("claims", "--out", "no/such/folder/page.md"), "cannot write no/such/folder/page.md"),
        (("reproduce", "symmetry/txet"), '"txet"; did you mean "text"?'),
        (("reproduce", "symmetry/addition", "--seeds", "x"), '"x" is not a seed'),
        (("reproduce", "symmetry/addition", "--out", "/proc/results"), "cannot write to /proc"),
        (("reproduce", "symmetry/addition", "--set", "pe"), "--set pe: KEY=VALUE is wanted"),
        (("reproduce", "symmetry/addition", "--set", "pe=firee"), 'did you mean "fire"?'),
        (("reproduce", "symmetry/addition", "--set", "train.lr=x"), "train.lr is 'x'"),
        (("reproduce", "symmetry/addition", "--set", "trian.lr=1"), 'did you mean "train"?'),
        (("reproduce", "symmetry/linear-attention", "--set", "pe=fire"), "nothing to change"),
    ],
)
def test_bad_input_is_one_clear_line(tenfold, words, message):
    code, out, err = tenfold(*words)
    assert code not in (0, None)
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_paper_without_experiments_says_so(tenfold, tiny, tmp_path):
    (tmp_path / "papers/tiny/experiments/counting.py").unlink()
    code, out, err = tenfold("reproduce", "tiny")
    assert (code, out) == (2, "")
    assert "papers/tiny has no experiment yet" in err


def test_a_page_of_claims(tenfold, tmp_path):
    code, out, _ = tenfold("claims", "--paper", "bias", "--out", "page.md")
    assert (code, out) == (0, "page.md\n")
    assert (
        "| abc-addition | Table 1, row Addition, column ABC" in (tmp_path / "page.md").read_text()
    )


def test_experiments_that_share_a_run_list_it_once(tenfold, tiny, paper):
    paper("again", EXPERIMENT.replace("(0, 1)", "(1, 2)"))
    code, out, err = tenfold("reproduce", "tiny", "--dry-run", "--json")
    assert code == 0, err
    assert sorted(each["seed"] for each in json.loads(out)) == [0, 1, 2]


def test_the_expected_time_comes_first(tiny, tmp_path):
    """Counted from the operations of a step, without training."""
    recipes = [Recipe.of(tiny.replace(seed=seed).as_json()) for seed in range(4)]
    line = expected_line(plan(recipes, tmp_path), 2)
    assert re.fullmatch(
        r"4 runs, 0 of them finished; expected: about \S+ seconds of training on 2 cores here, and the time to measure",
        line,
    )


def test_the_time_of_trainings_that_follow_is_counted_too(tenfold, tiny, paper, tmp_path):
    paper("twice", EXPERIMENT + "\n\ndef later(recipe):\n    return 3 * recipe.train.steps\n")
    code, out, err = tenfold("reproduce", "tiny/twice", "--dry-run", "--json")
    assert code == 0, err
    rows = json.loads(out)
    assert rows
    assert all(row["steps_later"] == 3 * row["steps"] for row in rows)
    code, out, _ = tenfold("reproduce", "tiny/twice", "--dry-run")
    assert re.search(r"; then at most about \S+ seconds of further trainings that follow", out)
    recipes = [Recipe.of(tiny.as_json())]
    line = expected_line(plan(recipes, tmp_path), 1, {recipes[0].run_name: 5})
    assert line.endswith("of further trainings that follow from these runs")


def test_dry_run_lists_what_would_be_run(tenfold, tiny, tmp_path):
    code, out, _ = tenfold("reproduce", "tiny", "--dry-run", "--seeds", "0-2", "--json")
    assert code == 0
    assert [run["seed"] for run in json.loads(out)] == [0, 1, 2]
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "runs").exists()


def test_reproducing_decides_claims(tenfold, tiny, tmp_path):
    """Smoke decides nothing; results do; a failure changes nothing; a seed is not dropped."""
    _, out, _ = tenfold("claims", "--paper", "tiny", "--json")
    assert [each["status"] for each in json.loads(out)] == ["open", "open"]
    code, out, _ = tenfold("reproduce", "tiny", "--scale", "smoke")
    assert code == 0
    assert "smoke runs decide no claim" in out
    assert (tmp_path / "runs/tried/tiny/counting/smoke/rows.csv").is_file()
    assert not list(tmp_path.glob("results/**/rows.csv"))

    (tmp_path / "results").mkdir(exist_ok=True)
    (tmp_path / "results/CLAIMS.md").write_text("old")
    code, out, err = tenfold("reproduce", "tiny/counting", "--json")
    (done,) = json.loads(out)
    assert code == 0
    assert err == "2 runs, all of them finished; expected: the time to measure\n"
    changes = {each["id"]: (each["before"], each["after"]) for each in done["claims"]}
    assert changes == {
        "tiny/counts": ("open", "reproduced"),
        "tiny/never": ("open", "against"),
    }
    assert "| never | Table 2" in (tmp_path / "results/CLAIMS.md").read_text()
    rows = (tmp_path / "results/tiny/counting/laptop/rows.csv").read_text()

    code, _, err = tenfold("reproduce", "tiny", "--seeds", "1-2")
    assert code == 2
    assert "holds seeds 0, which this command would leave out" in err

    other = Recipe.of(tiny.replace(seed=2).as_json())
    (tmp_path / "runs" / other.run_name).mkdir()
    (tmp_path / "runs" / other.run_name / "result.json").write_text("{")
    code, out, err = tenfold("reproduce", "tiny", "--seeds", "0-2")
    assert code == 1
    assert out == ""
    assert err.startswith("3 runs, ")
    assert "failed: tiny/counting: 1 of 3 runs failed; tiny/adder, seed 2" in err
    assert "nothing was written" in err
    assert (tmp_path / "results/tiny/counting/laptop/rows.csv").read_text() == rows


@pytest.mark.full
def test_a_changed_setting_is_written_apart_and_drawn_over_the_committed_curve(
    tenfold, tiny, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    package.reproduce("tiny/counting", seeds=[0], out="results", workers=1)
    before = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
    drawn = []
    laid_over = changed_experiment.from_rows.laid_over

    def watch(rows, behind, *rest):
        drawn.append((len(rows), len(behind)))
        return laid_over(rows, behind, *rest)

    monkeypatch.setattr(changed_experiment.from_rows, "laid_over", watch)
    words = ("reproduce", "tiny/counting", "--seeds", "0", "--set", "train.lr=0.005")
    code, out, _ = tenfold(*words, "--dry-run", "--json")
    (planned,) = json.loads(out)
    code, out, err = tenfold(*words, "--set", "pe=alibi")
    assert code == 0, err
    assert "changed settings decide no claim" in out
    folder = Path("runs/changed/tiny/counting/train.lr=0.005+pe=alibi/laptop")
    assert str(folder) in out
    assert {"rows.csv", "results.md", "changed-exact.png"} <= {p.name for p in folder.iterdir()}
    assert "alibi" in (folder / "rows.csv").read_text()
    (counts,) = drawn
    assert min(counts) > 0  # changed curves, and committed ones behind them
    assert {path: path.read_bytes() for path in before} == before
    assert planned["run"] not in [run.name for run in Path("runs").iterdir()]  # only planned


@pytest.mark.full
def test_every_experiment_of_a_paper_is_reproduced_as_it_is(tiny, paper, tmp_path, monkeypatch):
    """What changed in the claims of the first one is no setting of the next."""
    monkeypatch.chdir(tmp_path)
    paper("later", EXPERIMENT)
    done = package.reproduce("tiny", seeds=[0], out="results", workers=1)
    assert [(each.experiment, each.failed) for each in done] == [
        ("tiny/counting", None),
        ("tiny/later", None),
    ]
    assert Path("results/tiny/later/laptop/rows.csv").is_file()


def test_reproducing_from_python(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    (done,) = package.reproduce("tiny/counting", out="mine", workers=1, callback=seen.append)
    assert seen == [done]
    assert done.folder == Path("mine/tiny/counting/laptop")
    assert (done.experiment, done.scale, done.failed) == ("tiny/counting", "laptop", None)
    assert done.claims[0] == {"id": "tiny/counts", "before": "open", "after": "reproduced"}
    (smoke,) = package.reproduce("tiny/counting", "smoke", seeds=[0], out="tries", workers=1)
    assert smoke.folder == Path("tries/tiny/counting/smoke")
    with pytest.raises(TenfoldError, match="name --add too"):
        package.reproduce("tiny/counting", only=["adder"])
    with pytest.raises(TenfoldError, match='"conting"; did you mean "counting"'):
        package.reproduce("tiny/conting")
