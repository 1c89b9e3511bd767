"""Text, as a person meets it: train, ask in words, measure templates, and where heads look."""

import json
import sys

import pytest
import torch

from tenfold.cli.app import main
from tenfold.ledger.experiments import find
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Smoke-scale runs, trained through the command line; by name."""
    folder = tmp_path_factory.mktemp("text")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("text-addition", "sentences-addition", "sentences-addition-window"):
            words = ["train", f"symmetry/{name}", "--scale", "smoke", "--out", str(folder / name)]
            patch.setattr(sys, "argv", ["tenfold", *words])
            with pytest.raises(SystemExit) as done:
                main()
            assert done.value.code == 0
    return folder


@pytest.mark.parametrize("name", ["sentences-addition", "sentences-addition-window"])
def test_ask_in_words(tenfold, runs, name):
    code, out, _ = tenfold("ask", runs / name, "what is 12 plus 34?", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["question"] == "what is 12 plus 34?"
    assert result["truth"] == "46"
    assert result["right"] == (result["answer"] == "46")
    code, _, err = tenfold("ask", runs / name, "what is 12 pluss 34?")
    assert (code, err) == (2, 'error: unknown word "pluss"; did you mean "plus"?\n')


def test_ask_among_words(tenfold, runs):
    code, out, _ = tenfold("ask", runs / "text-addition", "ka 12+ la 34", "--json")
    assert (code, json.loads(out)["question"]) == (0, "ka 12+ la 34")
    code, out, _ = tenfold("ask", runs / "text-addition", "12+34", "--json")
    drawn = json.loads(out)["question"]
    assert [word for word in drawn.split() if word[0].isdigit()] == ["12+", "34"]
    code, _, err = tenfold("ask", runs / "text-addition", " ".join(["ka"] * 200) + " 12+34")
    assert code == 2
    assert "learned positions end at 103" in err


def test_questions_from_a_file(tenfold, runs, tmp_path):
    (tmp_path / "asked.txt").write_text("add 1 to 2\nwhat is 3 plus 4?\n")
    code, out, err = tenfold("ask", runs / "sentences-addition-window", "--file", "asked.txt")
    assert code == 0
    assert len(out.splitlines()) == 2
    assert "of 2 right" in err


def test_templates_are_measured(tenfold, runs, tmp_path):
    words = ("eval", runs / "sentences-addition", "--slices", "uniform,sentences", "--lengths", "2")
    code, out, _ = tenfold(*words, "--n", 7, "--json", "--log-samples", "samples.jsonl")
    assert code == 0
    questions = {row["slice"] for row in json.loads(out)}
    assert {"uniform", "sentence-1", "sentence-15", "unseen-1", "unseen-3"} <= questions
    assert len(questions) == 19
    samples = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    unseen = [sample["prompt"] for sample in samples if sample["slice"] == "unseen-2"]
    assert len(unseen) == 7
    assert all(prompt.startswith("please tell me the sum of ") for prompt in unseen)


def test_worked_examples_are_asked_in_words(runs):
    run = Run.open(runs / "sentences-addition")
    for answer in run.examples(2, 5):
        assert not set(answer.question) <= set("0123456789+")
        assert run.ask(answer.question) == answer


@pytest.mark.parametrize("name", ["text-addition", "sentences-addition-window"])
def test_training_resumes_bit_for_bit(tmp_path, name):
    """Stopped after 10 of 20 steps, or not at all: the same weights."""
    chosen = recipe(f"symmetry/{name}", "smoke")
    whole = train(chosen, tmp_path / "whole")

    class Enough(Exception):
        pass

    def callback(line):
        if line["step"] == 13:  # a checkpoint was left at 10
            raise Enough

    with pytest.raises(Enough):
        train(chosen, tmp_path / "parted", progress=callback)
    parted = train(chosen, tmp_path / "parted")
    ours, theirs = (each.model("final").state_dict() for each in (whole, parted))
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_a_model_that_looks_everywhere_looks_at_text_as_often_as_there_is(runs):
    """With queries of zero attention is even; then the measured share is that of words."""
    (experiment,) = find("symmetry/text")
    measure = experiment.module.attention_to_text
    run = Run.open(runs / "text-addition")
    looks, alike = measure(run, 2, 40)
    assert 0 < looks < 1
    assert looks != pytest.approx(alike, abs=1e-6)
    with torch.no_grad():
        for block in run.model().stack.blocks:
            for parameter in block.attention.query.parameters():
                parameter.zero_()
    assert measure(run, 2, 40) == pytest.approx((alike, alike), abs=1e-6)


@pytest.mark.full
def test_the_experiment_measures_what_its_claim_reads(tenfold, tmp_path):
    code, _, err = tenfold("reproduce", "symmetry/text", "--scale", "smoke", "--seeds", "0")
    assert code == 0, err
    lines = (tmp_path / "runs/tried/symmetry/text/smoke/rows.csv").read_text().splitlines()
    for name in ("text-addition", "text-multiplication-1"):
        own = [line for line in lines if f"symmetry/{name}," in line]
        for metric in ("attention-to-text", "text-share"):
            assert sum(f",{metric}," in line for line in own) == 1
