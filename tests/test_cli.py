"""The command line, as a person uses it: what is printed, where, and with which exit code."""

import io
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import tenfold as library
from tenfold.cli.app import main, parse_lengths
from tenfold.cli.listing_commands import KINDS
from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import sealed
from tenfold.runs.recipe import Recipe
from tenfold.runs.run import shipped_names
from tenfold.runs.terminal import print_rows

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
    printed = json.loads(out)
    assert code == 0
    assert printed["parameters"] == 4463
    assert printed["flops_per_step"] > 1e6
    assert printed["seconds"] > 0
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
    printed = json.loads(out)
    assert code == 0
    assert (printed["question"], printed["truth"]) == ("12+34", "46")
    assert printed["right"] == (printed["answer"] == "46")
    code, out, _ = tenfold("ask", run, " 007 + 3 ")
    assert code == 0
    assert out.startswith("7+3 = ")


def test_ls_one(tenfold):
    code, out, _ = tenfold("ls", "pe", "t5")
    assert code == 0
    assert out.startswith("bias(i, j) = r_h[bucket(i - j)]")
    assert "  buckets: PositiveInt = 32\n" in out
    printed = json.loads(tenfold("ls", "relations", "joint", "--json")[1])
    assert {"name": "roles", "type": "PositiveInt", "default": 5} in printed["options"]


@pytest.mark.parametrize("kind", KINDS)
def test_ls(tenfold, kind):
    code, out, _ = tenfold("ls", kind, "--json")
    assert code == 0
    names = [entry["name"] for entry in json.loads(out)]
    expected = {
        "encodings": "alibi",
        "tasks": "addition",
        "schemes": "cyclic",
        "runs": None,
        "relations": "joint",
    }
    expected |= {"recipes": "symmetry/addition-relative", "formats": "reversed"}
    expected |= {
        "samplers": "no-carry",
        "models": "gru",
        "mixers": "gated-linear",
        "slices": "cascades",
    }
    expected |= {"experiments": "symmetry/addition", "examples": "examples/log_bias.py"}
    expected |= {"trackers": "tensorboard", "corpora": "python-code", "writings": "bytes"}
    expected |= {"proved": shipped_names()[0] if shipped_names() else None}
    assert expected[kind] is None or expected[kind] in names


def test_every_listed_thing_says_what_it_is(tenfold):
    for kind in KINDS:
        for entry in json.loads(tenfold("ls", kind, "--json")[1]):
            assert entry["about"], f"{kind} {entry['name']} has no line about it"


def test_show(tenfold, run):
    code, out, _ = tenfold("show", run)
    assert code == 0
    assert "finished: 20 of 20 steps" in out


@pytest.mark.filterwarnings("default:.*result.json is missing")
def test_a_trained_run_without_its_result_is_named(tenfold, run):
    """As a removed file leaves it, or a run that was killed before it was measured."""
    (run / "result.json").unlink()
    shutil.copytree(run, "runs/trained")
    for flags in ((), ("--json",)):
        code, _, err = tenfold("show", run, *flags)
        assert code == 0
        assert err.count("\n") == 1
        assert "result.json is missing" in err
    assert "result.json is missing" in tenfold("ls", "runs")[1]


def test_the_words_of_a_strangers_result_cannot_change_a_terminal(tenfold, run):
    """With a right seal; the same for what is missing in it."""
    result = json.loads((run / "result.json").read_text())
    del result["seal"]
    for key, value in (("slice", "\x1b[31mred"), ("metric", "\x1b]0;title\x07"), ("n", None)):
        rows = [{**row, key: value} for row in result["rows"]]
        (run / "result.json").write_bytes(sealed({**result, "rows": rows}))
        refused(tenfold("show", run), "result.json is damaged", key)
    (run / "result.json").write_bytes(sealed({"fingerprint": result["fingerprint"]}))
    refused(tenfold("show", run), "result.json is damaged")


def test_names_of_slices_are_no_markup(capsys):
    row = {"length": 1, "metric": "exact", "value": 1.0, "low": None, "high": None, "n": 1}
    print_rows([{**row, "slice": "[red]\x1b[2J[/red]"}])
    assert r"[red]\x1b[2J[/red]" in capsys.readouterr().out


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
        (("--eval.slices", "[hard]"), ["eval.slices hard", "has no such problems"]),
        (("--train.from", ""), ["--train.from needs a value; null is none"]),
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
    refused(tenfold("ls", "runs", "x"), "runs")
    refused(tenfold("eval", "nowhere"), "unknown run")
    refused(tenfold("eval", "runs/nowhere"), "there is no run in runs/nowhere")
    refused(tenfold("eval", run, "--slices", "unifrm"), "unknown slice")
    refused(tenfold("eval", run, "--slices", "hard"), "nothing to measure")
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


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ("0", '"0" begins below the least length, 1'),
        ("-1", '"-1" is not a length; write 5, or 5-10'),
        ("5-", '"5-" is not a length'),
        ("a", '"a" is not a length'),
        ("", '"" is not a length'),
        ("9-5", '"9-5" is not a range of lengths; 9 is above 5'),
        ("9-0", "9 is above 0"),
        ("5-9:0", '"5-9:0" is not a range of lengths; its step is 0'),
        ("1-100000000000", '"1-100000000000" is too many lengths; 100,000 at the most'),
        ("1-60000,1-60000", '"1-60000" is too many lengths'),
        ("9" * 5000, "is not a length"),
    ],
)
def test_lengths_that_are_none(lengths, message):
    with pytest.raises(TenfoldError, match=re.escape(message)):
        parse_lengths(lengths)


def test_as_many_lengths_as_can_be():
    assert parse_lengths("1-100000") == list(range(1, 100_001))
    assert parse_lengths("1,10-1000000000000000:500000000000000") == [1, 10, 500000000000010]


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
    refused(tenfold("ask", run, "1+2"), "recipe.yaml is damaged", "changed after it was written")
    path.write_text("[")
    refused(tenfold("ask", run, "1+2"), "damaged")


def test_a_folder_that_cannot_be_written(tenfold, tmp_path):
    (tmp_path / "file").write_text("")
    refused(tenfold(*SMOKE, "--out", "file/run"), "cannot write to file/run")


def test_a_run_in_use(tenfold, run):
    from tenfold.runs.lease import Lease

    with Lease(run):
        refused(tenfold(*SMOKE, "--out", run), f"in use by process {os.getpid()}")


# proof


@pytest.fixture(scope="module")
def adder(tmp_path_factory):
    """A binary adder, trained until it is proved: two seconds."""
    parts = [
        {"name": "window", "behind": 1, "ahead": 0, "axis": "column", "answers": 0},
        {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}},
        {"name": "learned", "axis": "role", "limit": 5},
    ]
    recipe = Recipe(
        name="binary",
        task={"name": "addition", "base": 2},
        format="reversed",
        data={"length": 4, "sampler": "lengths"},
        pe={"name": "compose", "parts": parts},
        model={"kind": "decoder", "layers": 1, "width": 32, "heads": 4},
        stop="certified",
        train={"steps": 2000, "batch": 64, "lr": 0.005, "warmup": 20},
        eval={"lengths": [5], "slices": ["uniform"], "n": 20, "every": 500, "validation_n": 20},
    )
    run = library.train(recipe, out=tmp_path_factory.mktemp("proof") / "adder")
    assert run.result()["reason"] == "certified"
    return run


@pytest.fixture
def proved(adder, tmp_path):
    """A copy of its run."""
    return Path(shutil.copytree(adder.folder, tmp_path / "proved"))


def test_certify(tenfold, proved):
    code, out, err = tenfold("certify", proved)
    assert code == 0
    assert out.startswith("proved: right at every length\n111 contexts, all right")
    assert "111 contexts, about" in err
    stored = json.loads((proved / "certificate.json").read_text())
    assert (stored["verdict"], stored["contexts"], stored["wrong"]) == ("proved", 111, 0)
    printed = json.loads(tenfold("certify", proved, "--json")[1])
    assert printed["proved"] is True
    assert printed["weights"] == stored["weights"]
    assert "differences" not in printed


def test_a_verdict_is_not_lost_where_it_cannot_be_written(tenfold, proved, monkeypatch):
    def fails(*_):
        raise TenfoldError("cannot write certificate.json: Read-only file system")

    monkeypatch.setattr("tenfold.features.proofs.certify.write_certificate", fails)
    code, out, err = tenfold("certify", proved)
    assert code == 0
    assert out.startswith("proved: right at every length")
    assert "warning: cannot write certificate.json: Read-only file system\n" in err


def test_certify_checks_a_certificate(tenfold, proved, tmp_path):
    tenfold("certify", proved)
    path = tmp_path / "held.json"
    stored = json.loads((proved / "certificate.json").read_text())
    path.write_text(json.dumps(stored))
    (proved / "certificate.json").unlink()
    code, out, _ = tenfold("certify", proved, "--check", path)
    assert code == 0
    assert out.endswith(f"{path} says the same\n")
    assert not (proved / "certificate.json").exists()  # looking leaves nothing
    assert json.loads(tenfold("certify", proved, "--check", path, "--json")[1])["differences"] == []
    for change in ({"weights": "ab" * 32}, {"contexts": 7}, {"margin": 1e9}):
        path.write_text(json.dumps({**stored, **change}))
        code, out, _ = tenfold("certify", proved, "--check", path)
        assert code == 1
        assert "the certificate is not right: " in out
        assert next(iter(change)) in out
        code, out, _ = tenfold("certify", proved, "--check", path, "--json")
        assert code == 1
        assert len(json.loads(out)["differences"]) == 1


def test_certify_refuses(tenfold, proved, run, tmp_path):
    (tmp_path / "no.json").write_text("[1]")
    refused(tenfold("certify", proved, "--check", "no.json"), "no.json is not a certificate")
    (tmp_path / "no.json").write_text("{")
    refused(tenfold("certify", proved, "--check", "no.json"), "no.json cannot be read")
    refused(tenfold("certify", proved, "--check", "nowhere.json"), "nowhere.json")
    refused(
        tenfold("certify", proved, "--limit", 0), "the limit is 0 contexts; it must be at least 1"
    )
    refused(tenfold("certify", proved, "--limit", 10), "more than 10 contexts of 2 columns")
    code, out, err = tenfold("certify", run, "--json")  # in place: no decoder
    assert code == 2
    assert json.loads(out)["verdict"] == "not certifiable"
    assert err.count("\n") == 1
    refused(tenfold("certify", run))


def test_certify_refutes(tenfold, adder, tmp_path):
    recipe = adder.recipe.replace(stop=None, train={"steps": 1})
    library.train(recipe, out=tmp_path / "untrained")
    code, out, _ = tenfold("certify", "untrained/")
    assert code == 1
    assert out.startswith("refuted: wrong on ")
    assert "truly" in out


def test_extract(tenfold, proved, tmp_path):
    code, out, _ = tenfold("extract", proved, "--out", "machine")
    assert code == 0
    names = {path.name for path in (tmp_path / "machine").iterdir()}
    assert names == {"machine.html", "machine.json", "machine.dot"}
    page = (tmp_path / "machine/machine.html").read_text()
    assert "Which finite machine does the same as this model" in page
    assert "a machine of 2 states; no machine with fewer does the same" in page
    assert "all that it remembers of the columns read so far" in page
    assert "<td>tenfold extract " in page
    tenfold("extract", proved, "--out", "machine", "--figures", "drawn")
    assert {path.name for path in (tmp_path / "drawn").iterdir()} == {"machine.png", "machine.svg"}
    assert (tmp_path / "machine/machine.dot").read_text().startswith("digraph machine {")
    assert "page:  machine/machine.html" in out
    printed = json.loads(tenfold("extract", proved, "--json")[1])
    assert (printed["states"], printed["smallest"], printed["own"], printed["differs"]) == (
        2,
        True,
        True,
        None,
    )
    assert (proved / "machine.dot").exists()  # by default beside the run
    refused(tenfold("extract", proved, "--limit", 10), "more than 10 contexts")


def test_extract_refuses_what_is_not_local(tenfold, run):
    code, out, err = tenfold("extract", run)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1


def test_export(tenfold, proved, tmp_path):
    code, out, _ = tenfold("export", proved, "--out", "mine", "--json")
    assert code == 0
    paths = json.loads(out)
    assert set(paths) == {"recipe", "weights", "certificate"}
    assert all((tmp_path / path).is_file() for path in paths.values())
    before = sorted(path.name for path in (tmp_path / "mine").iterdir())
    assert json.loads(tenfold("ask", "mine", "1011+11", "--json")[1])["answer"] == "1110"
    assert tenfold("certify", "mine", "--check", "mine/certificate.json")[0] == 0
    assert tenfold("certify", "mine")[0] == 0
    assert tenfold("eval", "mine", "--lengths", "40", "--n", 5)[0] == 0
    assert tenfold("show", "mine")[0] == 0
    assert tenfold("extract", "mine", "--out", "drawn")[0] == 0
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == before
    refused(tenfold("export", proved, "--out", "mine"), "mine holds a run already")
    (tmp_path / "runs/other").mkdir(parents=True)
    (tmp_path / "runs/other/recipe.yaml").write_text("seed: 1")
    refused(
        tenfold("export", proved, "--out", "runs"),
        "runs is a folder with a run in it",
        "runs/exported",
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/mine.txt").write_text("kept")
    refused(tenfold("export", proved, "--out", "notes"), "notes is not empty (mine.txt is in it)")
    refused(tenfold("export", proved, "--out", "notes/mine.txt"), "mine.txt is a file")
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert tenfold("export", proved, "--out", "empty")[0] == 0
    (tmp_path / "mine/weights.safetensors").write_bytes(b"no")
    refused(tenfold("ask", "mine", "1+1"), "weights.safetensors")


@pytest.fixture
def questions(tmp_path):
    def write(*lines):
        path = tmp_path / "questions.txt"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest.mark.parametrize("how", [(), ("--machine",)])
def test_ask_a_file(tenfold, proved, questions, how):
    long = "1" * 5000
    path = questions("1+1", "", f"{long}+1", "  101 + 010  ", f"{long}+{long}")
    code, out, err = tenfold("ask", proved, "--file", path, *how)
    assert code == 0
    assert out.splitlines() == ["10", "1" + "0" * 5000, "111", f"{long}0"]
    assert err.endswith("4 of 4 right\n")
    code, out, _ = tenfold("ask", proved, "--file", path, "--json", *how)
    printed = [json.loads(line) for line in out.splitlines()]
    assert [entry["right"] for entry in printed] == [True] * 4
    assert printed[1]["question"] == f"{long}+1"


def test_ask_standard_input(tenfold, proved, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1+1\n\n11+1\n"))
    code, out, _ = tenfold("ask", proved, "--file", "-")
    assert code == 0
    assert out == "10\n100\n"


@pytest.mark.parametrize("bad", ["12+1", "1+1+1", "word", "1+", "\u0661+1"])
def test_a_bad_line_is_named(tenfold, proved, questions, bad):
    code, out, err = tenfold("ask", proved, "--file", questions("1+1", "10+1", bad, "1+1"))
    assert code not in (0, None)
    assert out == "10\n11\n"  # what came before it was answered
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    assert f'"{bad}"' in err
    assert "line 3" in err


def test_files_that_hold_no_questions(tenfold, proved, questions, tmp_path):
    refused(tenfold("ask", proved, "--file", questions()), "no questions in the file")
    refused(tenfold("ask", proved, "--file", questions("", "  ")), "no questions in the file")
    refused(tenfold("ask", proved, "--file", "nowhere.txt"), "nowhere.txt")
    refused(tenfold("ask", proved, "--file", tmp_path), str(tmp_path))
    (tmp_path / "noise").write_bytes(b"\xff\xfe\x00\x81")
    refused(tenfold("ask", proved, "--file", "noise"), "noise is not a text file")
    refused(tenfold("ask", proved, "1+1", "--file", "noise"), "2 words")


def test_a_question_without_an_end_is_refused(tenfold, proved, monkeypatch):
    monkeypatch.setattr("tenfold.runs.answer.LARGEST_TEXT", 1000)
    refused(tenfold("ask", proved, "--file", "/dev/zero"), "a question is longer than 1,000")


def test_ask_one_long_question(tenfold, proved):
    code, out, _ = tenfold("ask", proved, f"{'1' * 300}+1", "--machine", "--json")
    assert code == 0
    assert json.loads(out)["answer"] == "1" + "0" * 300
    assert tenfold("ask", proved, f"{'1' * 300}+1", "--machine")[0] == 0


def test_ask_without_a_run(tenfold):
    if not shipped_names():
        refused(tenfold("ask", "12+345"), 'no proved model answers "12+345"')
        return
    code, out, _ = tenfold("ask", "99999999999999999999+1", "--json")
    assert code == 0
    assert json.loads(out)["answer"] == "100000000000000000000"
    refused(tenfold("ask", "twelve"), 'no proved model answers "twelve"')


def test_ask_without_a_question(tenfold, proved):
    refused(tenfold("ask"), "a question, or a run and a question")
    refused(tenfold("ask", proved, "1+1", "1+1"), "3 words")
    refused(tenfold("ask", proved), "is a run; a question is missing")


def test_rounding_is_bounded_or_not_as_asked(tenfold):
    for flag, bounded in (("--rounding", True), ("--no-rounding", False)):
        _, out, _ = tenfold("certify", "parity", "--json", flag)
        actual = json.loads(out)
        assert (actual["bound"] is not None) is bounded
        assert actual["in_float32"] is bounded
