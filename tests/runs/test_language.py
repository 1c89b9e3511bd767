"""Language models as runs: trained, resumed, measured, asked and reported like any other."""

import json

import numpy as np
import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import running_text
from tenfold.data.corpora.token_store import Store
from tenfold.drawing.report_page import write_report
from tenfold.features.proofs.certify import certify
from tenfold.features.proofs.run_machine import extract_machine, look_up
from tenfold.ledger.experiments import DrawingContext, Lab, find
from tenfold.runs.answer import GoingOn
from tenfold.runs.build import build
from tenfold.runs.cost import count
from tenfold.runs.recipe import Recipe
from tenfold.runs.recipe_files import names, recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train

SEVERAL = [
    name for name in names() if name.startswith(("extrapolation/code-", "extrapolation/prose-"))
]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """One for all tests here: the standard library is written once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENFOLD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A single file, in which what follows is easily learned."""
    path = tmp_path_factory.mktemp("text") / "song.txt"
    path.write_text("one two three four, and again\n" * 200)
    return path


def tiny(text, **changes):
    return Recipe(
        name="tiny",
        task={"name": "files", "path": str(text)},
        format="bytes",
        data={"length": 12},
        pe="alibi",
        model={"kind": "decoder", "layers": 1, "width": 32, "heads": 2, "dropout": 0.1},
        train={"steps": 60, "batch": 8, "lr": 0.01, "warmup": 5, "checkpoint_every": 20, "log_every": 10},
        eval={
            "lengths": [12, 48], "slices": ["uniform", "sliding", "positions"], "n": 240, "every": 30,
            "validation": [12], "validation_n": 96,
        },
    ).replace(**changes)  # fmt: skip


@pytest.fixture(scope="module")
def run(text, tmp_path_factory):
    return train(tiny(text), tmp_path_factory.mktemp("runs") / "song")


def test_it_learns_and_is_measured(run):
    actual = {
        (row["length"], row["slice"], row["metric"]): row
        for row in run.result()["rows"]
        if row["checkpoint"] == "best"
    }
    assert {row["n"] for key, row in actual.items() if not key[1].startswith("position")} == {240}
    assert 1 < actual[48, "uniform", "perplexity"]["value"] < 8  # chance: some 15 letters
    assert actual[12, "sliding", "loss"]["value"] < actual[12, "uniform", "loss"]["value"]
    assert (48, "position-33-48", "loss") in actual
    lines = [line["eval"] for line in run.metrics() if "eval" in line]
    assert list(lines[0]) == ["perplexity"]
    assert run.result()["environment"]["text"] == run.built.source.store.digest


def test_the_best_checkpoint_is_chosen_on_text_of_its_own(run):
    source = run.built.source
    test, validation = source._reader(0, False).text, source._reader(0, True).text
    assert test.filename.name == "test.bin"
    assert validation.filename.name == "validation.bin"
    scores = [line["score"] for line in run.metrics() if "score" in line]
    assert run.progress()["best_score"] == max(scores)
    assert all(score < 0 for score in scores)  # the higher, the better


def test_batches_follow_from_the_seed_and_their_number(text):
    one, same, other = (build(tiny(text, seed=seed)) for seed in (0, 0, 1))
    assert torch.equal(one.batch_at(3).target, same.batch_at(3).target)
    assert not torch.equal(one.batch_at(3).target, one.batch_at(4).target)
    assert not torch.equal(one.batch_at(3).target, other.batch_at(3).target)
    batch = one.batch_at(0)
    assert torch.equal(batch.sequence.tokens[:, 1:], batch.target[:, :-1])


def test_training_sees_the_training_text_alone(tmp_path):
    path = tmp_path / "parts.txt"
    path.write_text("a\n" * 850 + "b\n" * 50 + "c\n" * 100)
    built = build(tiny(path))
    seen = {int(token) for step in range(50) for token in built.batch_at(step).target.unique()}
    assert seen <= {0, *b"a\n"}
    assert set(built.source._reader(0, True).text) == {0, *b"b\n"}
    assert set(built.source._reader(0, False).text) == {0, *b"c\n"}


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(run, text, tmp_path):
    class Enough(Exception):
        pass

    def stop(line):
        if line.get("step") == 47:
            raise Enough

    with pytest.raises(Enough):
        train(tiny(text), tmp_path / "again", progress=stop)
    again = train(tiny(text), tmp_path / "again")
    for name, value in run.model("final").state_dict().items():
        assert torch.equal(value, again.model("final").state_dict()[name]), name
    assert [row["value"] for row in again.result()["rows"]] == [
        row["value"] for row in run.result()["rows"]
    ]


def test_other_text_is_not_mistaken_for_it(run, tmp_path):
    printed = json.loads((run.folder / "environment.json").read_text())
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "recipe.yaml").write_text(run.recipe.as_yaml())
    other = {**printed, "text": "another"}
    del other["seal"]
    (copy / "environment.json").write_text(json.dumps(other))
    with pytest.raises(TenfoldError, match="was trained on other text"):
        Run.open(copy).check_text()
    with pytest.raises(TenfoldError, match="was trained on other text"):
        train(run.recipe, copy)


def test_it_continues_a_text(run):
    said = run.ask("one two th", how=GoingOn(tokens=6))
    assert said.truth is None
    assert said.right is None
    assert len(said.answer) == 6
    assert said == run.ask("one two th", how=GoingOn(tokens=6))
    drawn = [run.ask("one", how=GoingOn(20, temperature=1.5, seed=s)).answer for s in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_greedy_is_the_likeliest_token_each_time(run):
    text, model = "one two th", run.model()
    for _ in range(5):
        ids = torch.tensor([[*text.encode(), 0]])
        with torch.no_grad():
            text += chr(int(model(running_text(ids))[0, -1].argmax()))
    assert run.ask("one two th", how=GoingOn(tokens=5)).answer == text[len("one two th") :]


def test_examples_show_how_the_text_goes_on(run):
    for each in run.examples(12, 3):
        assert each.question.strip()
        assert "\n" not in each.question
        assert len(each.truth) == 24
        assert not any(each.wrong_digits())


@pytest.mark.parametrize(
    "written", [{"name": "bpe", "size": 300}, {"name": "characters", "size": 40}]
)
def test_other_tokens(text, written, tmp_path):
    if written["name"] == "bpe":
        pytest.importorskip("tokenizers")
    actual = train(tiny(text, format=written, train={"steps": 5}), tmp_path / "run")
    metrics = {row["metric"] for row in actual.result()["rows"]}
    assert ("bits-per-byte" in metrics) == (written["name"] == "bpe")
    assert isinstance(Run.open(actual.folder).ask("one two").answer, str)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"kind": "encoder"}}, 'kind "encoder" does not continue text; a decoder does'),
        (
            {"format": "reversed"},
            'format "reversed" does not write text; bpe, bytes, characters do',
        ),
        ({"data": {"sampler": "lengths"}}, "a text has no data.sampler"),
        ({"data": {"noise": 0.1}}, "a text has no data.noise"),
        ({"eval": {"slices": ["uniform", "nines"]}}, 'unknown slice of a text "nines"'),
        ({"stop": "certified"}, "text has none to prove"),
        ({"pe": {"name": "learned", "limit": 20}}, "learned positions end at 19"),
        ({"pe": {"name": "alibi", "axis": "column"}}, 'the axis "column", which nothing provides'),
    ],
)
def test_what_a_recipe_may_not_ask(text, changes, message):
    with pytest.raises(TenfoldError, match=message):
        build(tiny(text, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": {"length": 100_000}}, "data.length is 100,000 tokens; the training text has"),
        ({"eval": {"lengths": [241]}}, "at the most the 240 tokens"),
        ({"task": {"name": "files", "path": "nowhere"}}, "there is no file or folder nowhere"),
    ],
)
def test_what_is_told_before_anything_is_written(text, changes, message, tmp_path):
    with pytest.raises(TenfoldError, match=message):
        train(tiny(text, **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("ask", [certify, extract_machine, lambda run: look_up(run, "1+2")])
def test_what_only_problems_have(run, ask):
    with pytest.raises(TenfoldError, match="this is a language model"):
        ask(run)


def test_cost_and_paper_scale_read_nothing(monkeypatch):
    monkeypatch.setattr(Store, "tokens", lambda *_: pytest.fail("read"))
    monkeypatch.setattr("tenfold.runs.text_source.stored", lambda *_: pytest.fail("loaded"))
    actual = count(build(recipe("extrapolation/prose-alibi", "paper")))
    assert 65e6 < actual.parameters < 75e6  # 19 M in the blocks, 51 M in and out of 50,257 tokens


def test_recipes_differ_in_positions_alone():
    assert len(SEVERAL) == 34
    for name in SEVERAL:
        kind = name.split("/")[1].partition("-")[0]
        base = recipe(f"extrapolation/{kind}-alibi")
        same = base.replace(pe=recipe(name).as_json()["pe"], label=recipe(name).label)
        assert same.fingerprint == recipe(name).fingerprint
        assert 18 * base.data.length in base.eval.lengths


def test_code_and_prose_differ_in_their_text_alone():
    code, prose = (recipe(f"extrapolation/{kind}-alibi") for kind in ("code", "prose"))
    assert code.replace(task="python-prose").fingerprint == prose.fingerprint


@pytest.mark.full
def test_the_experiment_sorts_encodings_by_their_series(tmp_path):
    (experiment,) = find("extrapolation/perplexity")
    wanted = [
        f"extrapolation/code-{kind}" for kind in ("alibi", "inverse", "nope", "learned", "sandwich")
    ]
    lab = Lab("smoke", [0], lambda recipes: [train(r, tmp_path / r.run_name) for r in recipes])
    lab.sweep([recipe(name, "smoke", train={"steps": 2}) for name in wanted])
    rows = experiment.measure(lab)
    rises = {r["recipe"]: r["value"] for r in rows if r["metric"] == "rise"}
    assert set(rises) == set(wanted)
    actual = {(r["recipe"].split("/")[1], r["metric"]): r["value"] for r in rows}
    assert actual["code-convergent", "encodings"] == 1
    assert actual["code-convergent", "largest-rise"] == rises["extrapolation/code-alibi"]
    divergent = {
        r.get("slice", ""): r["value"]
        for r in rows
        if r["recipe"] == "extrapolation/code-divergent" and r["metric"] == "smallest-rise"
    }
    diverging = [
        f"extrapolation/code-{kind}" for kind in ("inverse", "nope", "learned", "sandwich")
    ]
    assert divergent[""] == min(rises[name] for name in diverging)
    assert divergent["in-practice"] == min(rises[name] for name in diverging[:-1])
    assert actual["code-learned", "converges"] == 0  # no weight falls with distance
    assert (
        actual["code-sandwich", "converges"] == 0
    )  # bounded below, and yet settled at these lengths
    collected = [
        {**row, "checkpoint": "best"} | {"recipe": run.recipe.name, "encoding": run.recipe.pe.name, "trained": 16, "task": "python-code", "seed": 0}
        for run in lab.runs
        for row in run.result()["rows"]
        if row["checkpoint"] == "best"
    ]  # fmt: skip
    experiment.draw(DrawingContext("smoke", collected, tmp_path, {}))
    assert (tmp_path / "perplexity-code.png").exists()


def test_through_the_command_line(tenfold, text):
    task = json.dumps({"name": "files", "path": str(text)})
    words = [
        "train",
        "extrapolation/code-alibi",
        "--scale",
        "smoke",
        "--task",
        task,
        "--out",
        "runs/song",
    ]
    code, out, err = tenfold(*words)
    assert code == 0, err
    assert "perplexity (95% interval) of" in out
    assert "perplexity at 16:" in err
    code, out, _ = tenfold(
        "eval", "runs/song", "--lengths", "16,100", "--slices", "uniform,sliding", "--json"
    )
    assert code == 0
    assert {(r["length"], r["slice"]) for r in json.loads(out)} == {
        (n, s) for n in (16, 100) for s in ("uniform", "sliding")
    }
    code, out, _ = tenfold(
        "ask", "runs/song", "one two", "--tokens", "7", "--temperature", "0.5", "--json"
    )
    assert json.loads(out)["truth"] is None
    assert tenfold("ask", "runs/song", "one two")[1].startswith("one two")
    assert "finished, seed 0, alibi" in tenfold("ls", "runs")[1]
    assert "perplexity" in tenfold("show", "runs/song")[1]
    code, out, err = tenfold("report", "runs/song", "--out", "report", "--json")
    assert code == 0, err
    assert "perplexity.png" in json.loads(out)["perplexity"]
    code, out, _ = tenfold(
        "results",
        "runs",
        "--sql",
        "select distinct metric from results order by 1",
        "--format",
        "json",
    )
    assert [row["metric"] for row in json.loads(out)] == ["bits-per-byte", "loss", "perplexity"]


def test_the_page_of_a_language_model(run, tmp_path):
    write_report([run], tmp_path / "page", examples=2)
    page = (tmp_path / "page" / "report.html").read_text()
    assert "<h1>Perplexity against length</h1>" in page
    assert "Perplexity by length" in page
    assert "Exact match" not in page
    assert "in sight, at the longest length" in page
    table = (tmp_path / "page" / "results.md").read_text()
    assert "## Perplexity, slice uniform, best checkpoint" in table
    assert "| tokens | tiny |" in table


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["train", "extrapolation/code-alibi", "--task", "{name: files, path: nowhere}"],
            "there is no file or folder",
        ),
        (
            ["train", "extrapolation/code-alibi", "--task", "python-cod"],
            'did you mean "python-code"?',
        ),
        (["ask", "addition", "1+2", "--temperature", "1"], "only text is continued"),
    ],
)
def test_bad_input_is_one_line(tenfold, words, message):
    code, _, err = tenfold(*words)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["eval", "--lengths", "5000"], "a length of 5,000 tokens"),
        (["eval", "--slices", "full"], "unknown slice of a text"),
        (["eval", "--log-samples", "x.jsonl"], "this is a language model"),
        (["ask", "", ], "there is nothing to continue"),
        (["ask", "one", "--tokens", "0"], "0 tokens"),
        (["ask", "one", "--temperature", "-1"], "a temperature of -1"),
        (["ask", "one", "--tokens", "9000000"], "do not fit into memory"),
        (["certify"], "this is a language model"),
        (["maps"], "this is a language model"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_of_it_is_one_line(tenfold, run, words, message):
    code, _, err = tenfold(words[0], run.folder, *words[1:])
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_samples_cannot_be_kept_of_a_text(text, tmp_path):
    with pytest.raises(TenfoldError, match="this is a language model"):
        train(tiny(text), tmp_path / "run", log_samples=True)
    assert not (tmp_path / "run").exists()


@pytest.mark.full
def test_a_sweep_of_language_models(tenfold, text, tmp_path):
    (tmp_path / "grid.py").write_text(
        "from tenfold.runs.recipe_files import recipe\n"
        f"task = {{'name': 'files', 'path': {str(text)!r}}}\n"
        "grid = [recipe(f'extrapolation/code-{kind}', 'smoke', task=task) for kind in ('alibi', 'nope')]\n"
    )
    code, out, err = tenfold("sweep", "grid.py", "--workers", "1", "--out", "swept")
    assert code == 0, err
    assert "2 runs finished" in out


def test_seeds_of_evaluation_read_other_text(run):
    one, other = (run.evaluate([12], ["uniform"], 100, seed=seed)[0] for seed in (0, 5))
    assert one.n == other.n == 96  # two passages of 48
    assert not np.isclose(one.value, other.value, rtol=1e-12)
