"""Task files for the LM Evaluation Harness: what is in them, and what the harness itself makes of them.

The harness is not part of the tools of development: `pip install -e '.[lm-eval]'` and these tests run it.
"""

import json
import re

import pytest
import yaml

from tenfold.core.errors import TenfoldError
from tenfold.features.harness.harness_tasks import write_tasks


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def true_sum(question):
    return str(sum(map(int, re.findall(r"\d+", question.replace(" ", "")))))


@pytest.mark.parametrize("written", ["plain", "reversed", "spaced"])
def test_problems_and_answers(tmp_path, written):
    names = write_tasks("addition", [1, 4], tmp_path / "tasks", n=20, written=written)
    whole = "tenfold_addition" + ("" if written == "plain" else f"_{written}")
    assert list(names)[-1] == whole
    for name, path in names.items():
        values = yaml.safe_load(path.read_text())
        if "group" in values:
            assert values["group"] == name
            assert all(each in names for each in values["task"])
            continue
        files = values["dataset_kwargs"]["data_files"]
        asked, shown = (lines(type(tmp_path)(files[part])) for part in ("test", "train"))
        assert asked
        for row in [*asked, *shown]:
            answer = row["answer"].replace(" ", "")
            right = answer[::-1] if written == "reversed" else answer
            assert right == true_sum(row["question"])
            assert len(answer) <= values["generation_kwargs"]["max_gen_toks"]
            digits = max(map(len, re.findall(r"\d+", row["question"].replace(" ", ""))))
            assert row["length"] == digits
        if row["length"] > 1:
            assert not {r["question"] for r in asked} & {r["question"] for r in shown}
    (example,) = lines(tmp_path / f"tasks/data/{whole}_uniform_4.jsonl")[:1]
    shape = {"plain": r"\d+\+\d+=", "reversed": r"\d+\+\d+=", "spaced": r"(\d )+\+ (\d )+="}
    assert re.fullmatch(shape[written], example["question"])


def test_hard_slices_are_subtasks(tmp_path):
    names = write_tasks("addition", [4], tmp_path / "tasks", n=5)
    wanted = {"uniform", "cascade_1", "cascade_all", "carries_1", "nines", "unequal"}
    assert {f"tenfold_addition_{each}_4" for each in wanted} <= set(names)
    for row in lines(tmp_path / "tasks/data/tenfold_addition_cascade_all_4.jsonl"):
        assert len(row["answer"]) == 5  # the carry runs out of the last column


def test_the_same_seed_the_same_problems(tmp_path):
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_tasks("addition", [6], tmp_path / folder, n=5, slices=["uniform"], seed=seed)
    a, b, c = ((tmp_path / f / "data/tenfold_addition_uniform_6.jsonl").read_text() for f in "abc")
    assert a == b != c


def test_other_arithmetic(tmp_path):
    names = write_tasks("subtraction", [3], tmp_path / "tasks", n=5)
    (row, *_) = lines(tmp_path / "tasks/data/tenfold_subtraction_uniform_3.jsonl")
    assert int(row["answer"]) == eval(row["question"].rstrip("="))  # two numbers that we wrote
    assert "tenfold_subtraction" in names


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--task", "copying"), 'task "copying" is not arithmetic'),
        (("--task", "additio"), 'unknown task "additio"; did you mean "addition"?'),
        (("--lengths", "0"), "begins below the least length, 1"),
        (("--slices", "uniform,hart"), 'unknown slice "hart"; did you mean "hard"?'),
        (("--format", "plane"), 'unknown format "plane"; did you mean "plain"?'),
        (("--shots", "99"), "0 to 16 examples"),
        (("--n", "1000000"), "1000000 problems with 4 examples each; 1 to 100,000"),
    ],
)
def test_a_command_that_is_off(tenfold, words, why):
    code, out, err = tenfold("lm-eval", "export", "--out", "tasks", *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert why in err
    assert err.count("\n") == 1


def test_a_negative_seed(tenfold):
    code, _, err = tenfold("lm-eval", "export", "--out", "new", "--seed=-1")
    assert code == 2
    assert err == "error: the seed of problems must be 0 or more, not -1\n"


def test_a_folder_that_has_something(tenfold, tmp_path):
    call = ("lm-eval", "export", "--lengths", "2", "--n", "3", "--out", "tasks")
    code, out, _ = tenfold(*call)
    assert code == 0
    assert "--include_path tasks --tasks tenfold_addition" in out
    code, _, err = tenfold(*call)
    assert code == 2
    assert "is not an empty folder; name a new one" in err
    with pytest.raises(TenfoldError, match="not an empty folder"):
        write_tasks("addition", [2], tmp_path / "tasks")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """`measured(model, lengths=[1, 3], written="plain")`: what the harness prints, by task."""
    pytest.importorskip("lm_eval")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets
    import lm_eval
    from lm_eval.tasks import TaskManager

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")

    def run(model, **options):
        folder = tmp_path / "tasks"
        write_tasks("addition", folder=folder, **options)
        manager = TaskManager(include_path=str(folder), include_defaults=False)
        found = lm_eval.simple_evaluate(
            model=model, tasks=[whole_of(options)],
            task_manager=manager, bootstrap_iters=0, log_samples=False,
        )  # fmt: skip
        return {name: each["exact_match,none"] for name, each in found["results"].items()}

    return run


def whole_of(options):
    written = options.get("written", "plain")
    return "tenfold_addition" + ("" if written == "plain" else f"_{written}")


def answering(function):
    """A language model that answers the last question of a prompt with a function of it."""
    from lm_eval.api.model import LM

    class Answers(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return [function(request.args[0].splitlines()[-1]) for request in requests]

        def loglikelihood(self, requests, disable_tqdm=False):
            raise AssertionError("not asked")

        loglikelihood_rolling = loglikelihood

    return Answers()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("written", ["plain", "reversed", "spaced"])
def test_the_harness_grades_true_answers_as_right(measured, written):
    def right(question):
        answer = true_sum(question)
        return {"plain": answer, "reversed": answer[::-1], "spaced": " ".join(answer)}[written]

    pytest.importorskip("lm_eval")
    scores = measured(answering(right), lengths=[1, 3], n=10, written=written)
    assert set(scores.values()) == {1.0}
    assert f"{whole_of({'written': written})}_cascade_all_3" in scores


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_the_harness_shows_what_a_model_cannot_do(measured):
    """One that adds without carrying is right only where there is nothing to carry."""
    pytest.importorskip("lm_eval")

    def without_carries(question):
        a, b = (int(text) for text in re.findall(r"\d+", question))
        columns = [(a // 10**i % 10 + b // 10**i % 10) % 10 for i in (2, 1, 0)]
        return str(int("".join(map(str, columns))))

    scores = measured(answering(without_carries), lengths=[3], n=30)
    assert scores["tenfold_addition_cascade_all_3"] == 0.0
    assert 0.0 < scores["tenfold_addition_uniform_3"] < 1.0
    assert 0.0 < scores["tenfold_addition"] < scores["tenfold_addition_uniform_3"]


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_the_harness_runs_a_tiny_model(measured):
    """A model of Hugging Face with swapped positions, which has learned nothing."""
    pytest.importorskip("lm_eval")
    import torch
    from lm_eval.models.huggingface import HFLM
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, PreTrainedTokenizerFast

    from tenfold import hf

    letters = [*"0123456789+= \n", "<pad>"]
    words = Tokenizer(
        models.WordLevel({each: i for i, each in enumerate(letters)}, unk_token="<pad>")
    )
    words.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="\n")
    torch.manual_seed(0)
    config = GPTNeoXConfig(
        vocab_size=len(letters), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=64, bos_token_id=14, eos_token_id=13,
    )  # fmt: skip
    model = HFLM(
        pretrained=hf.swap(GPTNeoXForCausalLM(config), "alibi"), tokenizer=tokenizer, batch_size=8
    )
    scores = measured(model, lengths=[2], n=4, slices=["uniform", "nines"])
    assert set(scores) == {
        "tenfold_addition", "tenfold_addition_uniform", "tenfold_addition_uniform_2",
        "tenfold_addition_nines", "tenfold_addition_nines_2",
    }  # fmt: skip
    assert all(0.0 <= score < 1.0 for score in scores.values())
