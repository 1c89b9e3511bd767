"""The command line, as a person uses it: what is printed, where, and with which exit code."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tenfold.cli import main, parse_lengths
from tenfold.cli.looking import KINDS
from tenfold.errors import TenfoldError

SMOKE = ("train", "symmetry/addition-relative", "--scale", "smoke")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A smoke-scale run, trained through the command line."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["tenfold", *SMOKE, "--out", str(folder)])
        with pytest.raises(SystemExit) as done:
            main()
    assert done.value.code == 0
    return folder


@pytest.fixture
def run(trained, tmp_path):
    """A copy of the run that a test may damage."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.fixture
def tenfold(monkeypatch, capsys, tmp_path):
    """Call the command line; gives exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["tenfold", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return call


def refused(result, *parts):
    """One line on standard error that says all of `parts`, nothing on standard output, a non-zero exit."""
    code, out, err = result
    assert code not in (0, None)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_train_prints_results_and_leaves_a_run(tenfold, tmp_path):
    code, out, err = tenfold(*SMOKE, "--out", "here", "--seed", 3)
    assert code == 0
    assert "% exactly right" in out
    assert "step 20/20" in err
    result = json.loads((tmp_path / "here/result.json").read_text())
    assert result["seed"] == 3
    assert result["steps"] == 20


def test_the_same_command_again_does_no_work(tenfold, tmp_path):
    tenfold(*SMOKE, "--out", "here")
    before = (tmp_path / "here/result.json").stat().st_mtime_ns
    code, _, err = tenfold(*SMOKE, "--out", "here")
    assert code == 0
    assert err == ""
    assert (tmp_path / "here/result.json").stat().st_mtime_ns == before


def test_fresh_starts_over(tenfold, tmp_path):
    tenfold(*SMOKE, "--out", "here")
    before = (tmp_path / "here/result.json").stat().st_mtime_ns
    assert tenfold(*SMOKE, "--out", "here", "--fresh")[0] == 0
    assert (tmp_path / "here/result.json").stat().st_mtime_ns > before


def test_default_folder_is_named_by_the_recipe(tenfold, tmp_path):
    _, out, _ = tenfold(*SMOKE, "--json")
    result = json.loads(out)
    assert result["folder"] == f"runs/symmetry-addition-relative-{result['fingerprint']}"
    code, out, _ = tenfold("show", "symmetry-addition", "--json")  # the beginning is enough
    assert code == 0
    assert json.loads(out)["progress"]["step"] == 20


def test_dry_run_writes_nothing(tenfold, tmp_path):
    code, out, _ = tenfold(*SMOKE, "--dry-run", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["parameters"] == 4463
    assert told["flops_per_step"] > 1e6
    assert told["seconds"] > 0
    assert list(tmp_path.iterdir()) == []


def test_dotted_overrides_reach_the_recipe(tenfold):
    _, out, _ = tenfold(
        *SMOKE, "--dry-run", "--json", "--pe", "alibi", "--train.lr=0.005", "--model.width", 32
    )
    recipe = json.loads(out)["recipe"]
    assert (recipe["pe"], recipe["train"]["lr"], recipe["model"]["width"]) == ("alibi", 0.005, 32)


def test_eval_at_other_lengths(tenfold, run):
    code, out, _ = tenfold(
        "eval", run, "--lengths", "1-3:2", "--slices", "uniform", "--n", 20, "--json"
    )
    rows = json.loads(out)
    assert code == 0
    assert [(row["length"], row["metric"]) for row in rows] == [
        (1, "exact"), (1, "digit"), (3, "exact"), (3, "digit"),
    ]  # fmt: skip
    exact = [row for row in rows if row["metric"] == "exact"]
    assert all(0 <= row["low"] <= row["value"] <= row["high"] <= 1 for row in exact)
    assert {row["checkpoint"] for row in rows} == {"best"}
    assert "% exactly right" in tenfold("eval", run, "--lengths", "1", "--n", 5)[1]


def test_ask(tenfold, run):
    code, out, _ = tenfold("ask", run, "12+34", "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["question"], told["truth"]) == ("12+34", "46")
    assert told["right"] == (told["answer"] == "46")
    code, out, _ = tenfold("ask", run, " 007 + 3 ")
    assert code == 0
    assert out.startswith("7+3 = ")


def test_ls_one(tenfold):
    code, out, _ = tenfold("ls", "pe", "t5")
    assert code == 0
    assert out.startswith("bias(i, j) = r_h[bucket(i - j)]")
    assert "  buckets: PositiveInt = 32\n" in out
    told = json.loads(tenfold("ls", "relations", "joint", "--json")[1])
    assert {"name": "roles", "type": "PositiveInt", "default": 5} in told["options"]


@pytest.mark.parametrize("kind", KINDS)
def test_ls(tenfold, kind):
    code, out, _ = tenfold("ls", kind, "--json")
    assert code == 0
    names = [entry["name"] for entry in json.loads(out)]
    expected = {
        "pe": "alibi",
        "tasks": "addition",
        "schemes": "cyclic",
        "runs": None,
        "relations": "joint",
    }
    expected |= {"recipes": "symmetry/addition-relative", "formats": "reversed"}
    expected |= {"samplers": "no-carry", "models": "decoder", "slices": "cascades"}
    assert expected[kind] is None or expected[kind] in names


def test_every_listed_thing_says_what_it_is(tenfold):
    for kind in KINDS:
        for entry in json.loads(tenfold("ls", kind, "--json")[1]):
            assert entry["about"], f"{kind} {entry['name']} has no line about it"


def test_show(tenfold, run):
    code, out, _ = tenfold("show", run)
    assert code == 0
    assert "finished: 20 of 20 steps" in out


def test_doctor(tenfold):
    code, out, _ = tenfold("doctor", "--json")
    assert code == 0
    assert {"python", "torch", "cores", "disk"} <= {entry["what"] for entry in json.loads(out)}


def test_report(tenfold, run, tmp_path):
    code, out, _ = tenfold("report", run, "--out", "page", "--json")
    assert code == 0
    for path in json.loads(out).values():
        assert (tmp_path / path).stat().st_size > 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("--pe", "alibbi"), ['unknown encoding "alibbi"', 'did you mean "alibi"?']),
        (("--task", "adition"), ['unknown task "adition"', "addition"]),
        (("--train.lrr", "1"), ['unknown recipe key "train.lrr"', 'did you mean "train.lr"?']),
        (("--trian.lr", "1"), ['unknown recipe key "trian"', 'did you mean "train"?']),
        (("--pe.relation.reech", "1"), ["reech", 'did you mean "reach"?']),
        (("--pe.relation.reach", "x"), ["relation", "reach", "'x'"]),
        (("--schemes", "[shiftd]"), ['unknown scheme "shiftd"']),
        (("--data.sampler", "nins"), ['unknown sampler "nins"']),
        (("--data.length", "0"), ["data.length is 0", "greater than 0"]),
        (("--data.length", "-3"), ["data.length is -3"]),
        (("--data.length", "9"), ["9 digits", "holds 4"]),
        (("--eval.slices", "[odd]"), ['unknown slice "odd"']),
        (("--train.lr", "abc"), ["train.lr", "'abc'"]),
        (("--train.lr",), ["--train.lr needs a value"]),
        (("--model.heads", "3"), ["width of 16", "3 heads"]),
        (("--model.kind", "decoder"), ["in-place", "causal"]),
        (("--pe.relation.axis", "abacus"), ['axis "abacus"', "scheme"]),
        (("--pe.relation.reach", "3"), ["reach 3", "spans 8"]),
        (("--device", "tpu"), ['device "tpu"']),
        (("--seed", "-1"), ["seed is -1"]),
    ],
)
def test_train_refuses(tenfold, tmp_path, change, says):
    refused(tenfold(*SMOKE, *change), *says)
    assert list(tmp_path.iterdir()) == []  # nothing half-made is left behind


def test_unknown_names(tenfold, run):
    refused(tenfold("train", "symmetry/adition"), "unknown recipe")
    refused(tenfold("train", "nowhere.yaml"), "nowhere.yaml")
    refused(tenfold(*SMOKE[:-1], "smok"), '"smok"', 'did you mean "smoke"?')
    refused(tenfold("trian"), 'Did you mean "train"?')
    refused(tenfold("ls", "pee"), 'unknown kind "pee"', 'did you mean "pe"?')
    refused(tenfold("ls", "pe", "alibbi"), 'unknown encoding "alibbi"', 'did you mean "alibi"?')
    refused(tenfold("ls", "runs", "x"), "runs have no options to tell of")
    refused(tenfold("eval", "nowhere"), "unknown run")
    refused(tenfold("eval", "runs/nowhere"), "there is no run in runs/nowhere")
    refused(tenfold("eval", run, "--slices", "unifrm"), "unknown slice")
    refused(tenfold("report"), "no runs")


def test_recipe_files(tenfold, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "extends: symmetry/addition-relative\nname: mine\npe: rotary\n"
    )
    _, out, _ = tenfold("train", "mine.yaml", "--scale", "smoke", "--dry-run", "--json")
    assert json.loads(out)["recipe"]["pe"] == "rotary"
    (tmp_path / "mine.py").write_text('import tenfold\nrecipe = tenfold.Recipe(pe="alibi")\n')
    _, out, _ = tenfold("train", "mine.py", "--dry-run", "--json")
    assert json.loads(out)["recipe"]["pe"] == "alibi"
    (tmp_path / "bad.yaml").write_text("a: [1\n")
    refused(tenfold("train", "bad.yaml"), "bad.yaml is not YAML")
    (tmp_path / "list.yaml").write_text("- 1\n")
    refused(tenfold("train", "list.yaml"), "does not hold a recipe")
    (tmp_path / "empty.py").write_text("\n")
    refused(tenfold("train", "empty.py"), "recipe")


@pytest.mark.parametrize("lengths", ["0", "-1", "5-", "a", "", "9-5", "5-9:0"])
def test_lengths_that_are_none(lengths):
    with pytest.raises(TenfoldError, match="length"):
        parse_lengths(lengths)


@pytest.mark.parametrize(
    "question", ["", "abc", "1+2+3", "12", "1+", "+", "-5+3", "1.5+2", "1+2=3", "\u0663+1"]
)
def test_ask_refuses_what_is_no_sum(tenfold, run, question):
    refused(tenfold("ask", run, question), "is not a sum of 2 numbers")


def test_ask_refuses_what_is_too_long(tenfold, run):
    refused(tenfold("ask", run, "9" * 10_000 + "+1"), "10000 digits", "holds 4")


@pytest.mark.filterwarnings("default:skipped a damaged checkpoint")
def test_a_damaged_checkpoint_falls_back_loudly(tenfold, run):
    newest = sorted((run / "checkpoints").iterdir())[-1] / "model.safetensors"
    data = bytearray(newest.read_bytes())
    data[-1] ^= 1
    newest.write_bytes(data)
    code, out, err = tenfold("ask", run, "1+2", "--json")
    assert code == 0
    assert "warning: skipped a damaged checkpoint" in err
    assert json.loads(out)["truth"] == "3"


def test_no_valid_checkpoint(tenfold, run):
    for place in (run / "checkpoints").iterdir():
        (place / "model.safetensors").write_bytes(b"short")
    refused(tenfold("ask", run, "1+2"), "no valid checkpoint", "5 bytes of")
    shutil.rmtree(run / "checkpoints")
    refused(tenfold("ask", run, "1+2"), "no checkpoint")


def test_another_recipes_run(tenfold, run):
    refused(tenfold(*SMOKE, "--out", run, "--seed", 5), "another recipe", "seed is 0, not 5")
    path = run / "recipe.yaml"
    path.write_text(path.read_text().replace("width: 16", "width: 32"))
    refused(tenfold("ask", run, "1+2"), "belongs to another recipe")
    path.write_text("[")
    refused(tenfold("ask", run, "1+2"), "damaged")


def test_a_folder_that_cannot_be_written(tenfold, tmp_path):
    (tmp_path / "file").write_text("")
    refused(tenfold(*SMOKE, "--out", "file/run"), "cannot write to file/run")


def test_a_run_in_use(tenfold, run):
    import filelock

    with filelock.FileLock(run / "lock"):
        refused(tenfold(*SMOKE, "--out", run), "in use by another process")
