"""Files from which the LM Evaluation Harness measures arithmetic by length, by carries and by format.

A subtask is one slice at one length, such as `tenfold_addition_cascade_all_5`: sums of 5 digits in which a carry runs
over all columns. A group a slice averages over lengths, and a group for everything averages over all problems.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from tenfold.core.errors import TenfoldError, unknown
from tenfold.core.files import write_atomically
from tenfold.data.batch import Batcher
from tenfold.data.formats.numeric import Reversed
from tenfold.data.tasks import TASKS
from tenfold.data.tasks.task import NumberTask
from tenfold.evals.exact_match import Examiner

SLICES = ("uniform", "full", "unequal", "cascades", "carries", "nines", "multipliers")
MOST = 100_000  # problems of a length and a slice
EXAMPLES = 16  # problems of a length that are shown as examples, and never asked
VERSION = 1.0

Text = tuple[str, str]  # a question, its answer


def _plain(question: str, answer: str) -> Text:
    return f"{question}=", answer


def _reversed(question: str, answer: str) -> Text:
    return f"{question}=", answer[::-1]


def _spaced(question: str, answer: str) -> Text:
    return " ".join(f"{question}="), " " + " ".join(answer)


FORMATS: dict[str, Callable[[str, str], Text]] = {
    "plain": _plain,  # 12+345= 357
    "reversed": _reversed,  # 12+345= 753, the units first
    "spaced": _spaced,  # 1 2 + 3 4 5 = 3 5 7, for tokenizers that join digits
}


def write_tasks(
    task: str,
    lengths: Sequence[int],
    folder: Path | str,
    *,
    slices: Sequence[str] = SLICES,
    written: str = "plain",
    n: int = 100,
    shots: int = 4,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Path]:
    """Write task files and their problems into a new folder; the files by the names that `lm_eval --tasks` takes.

    Arguments:
        task: an arithmetic task, such as "addition".
        lengths: digits of the longer operand.
        slices: which problems; those that do not apply at a length are left out.
        written: how they are written: "plain", "reversed" or "spaced".
        n: problems of each slice and length.
        shots: examples before each question; `lm_eval --num_fewshot` overrides it.
        seed: of the problems.
        progress: is called with how many files of problems there are, and how many there will be.
    """
    if seed < 0:
        raise TenfoldError(f"the seed of problems must be 0 or more, not {seed}")
    folder, examiner = Path(folder).resolve(), _examiner(task, seed)
    if written not in FORMATS:
        raise unknown("format", written, FORMATS)
    if not 1 <= n <= MOST or not 0 <= shots <= EXAMPLES:
        raise TenfoldError(
            f"{n} problems with {shots} examples each; 1 to {MOST:,}, and 0 to {EXAMPLES} examples, are right"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TenfoldError(f"{folder} is not an empty folder; name a new one")
    whole = f"tenfold_{task}" + ("" if written == "plain" else f"_{written}")
    groups: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    chosen = list(examiner.samplers(lengths, slices))
    for done, (length, label, sampler) in enumerate(chosen, 1):
        group = f"{whole}_{label.replace('-', '_')}"
        name = f"{group}_{length}"
        groups.setdefault(group, []).append(name)
        drawn = examiner.problems(length, label, sampler, n + EXAMPLES)
        rows = []
        for row in range(len(drawn)):
            texts = (
                examiner.batcher.task.question(drawn, row),
                examiner.batcher.task.truth(drawn, row),
            )
            question, answer = FORMATS[written](*texts)
            rows.append({"question": question, "answer": answer, "length": length, "slice": label})
        asked, shown = _apart(rows)
        files[f"data/{name}.jsonl"], files[f"data/{name}.examples.jsonl"] = (
            _lines(asked),
            _lines(shown),
        )
        files[f"{name}.yaml"] = _task_file(name, folder, asked, shots)
        if progress is not None:
            progress(done, len(chosen))
    for group, names in groups.items():
        files[f"{group}.yaml"] = _group_file(group, names)
    files[f"{whole}.yaml"] = _group_file(whole, list(groups))
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_atomically(folder / name, data)
    return {name.removesuffix(".yaml"): folder / name for name in files if name.endswith(".yaml")}


def _examiner(task: str, seed: int) -> Examiner:
    built = TASKS.build(task)
    if not isinstance(built, NumberTask):
        raise TenfoldError(
            f'task "{task}" is not arithmetic; a language model is asked in digits, as in "addition"'
        )
    return Examiner(Batcher(built, Reversed(), "causal"), seed)


def _apart(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The problems that are asked, and examples that are not among them, as far as there are others."""
    shown, asked = rows[:EXAMPLES], rows[EXAMPLES:]
    seen = {row["question"] for row in shown}
    return [row for row in asked if row["question"] not in seen] or asked, shown


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _task_file(name: str, folder: Path, asked: Sequence[dict[str, Any]], shots: int) -> bytes:
    longest = max(len(row["answer"]) for row in asked)
    data = {
        split: str(folder / f"data/{name}{end}.jsonl")
        for split, end in (("test", ""), ("train", ".examples"))
    }
    return _yaml(
        {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": data},
            "output_type": "generate_until",
            "test_split": "test",
            "fewshot_split": "train",
            "fewshot_config": {"sampler": "first_n"},
            "num_fewshot": shots,
            "doc_to_text": "{{question}}",
            "doc_to_target": "{{answer}}",
            "target_delimiter": "",
            "fewshot_delimiter": "\n",
            "generation_kwargs": {"until": ["\n"], "do_sample": False, "max_gen_toks": longest + 8},
            "filter_list": [
                {"name": "none", "filter": [{"function": "remove_whitespace"}, {"function": "take_first"}]}
            ],
            "metric_list": [
                {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True, "regexes_to_ignore": [r"^\s+|\s+$"]}
            ],
            "metadata": {"version": VERSION},
        }
    )  # fmt: skip


def _group_file(name: str, tasks: list[str]) -> bytes:
    mean = {
        "metric": "exact_match",
        "aggregation": "mean",
        "weight_by_size": True,
        "filter_list": "none",
    }
    return _yaml(
        {
            "group": name,
            "task": tasks,
            "aggregate_metric_list": [mean],
            "metadata": {"version": VERSION},
        }
    )


def _yaml(values: dict[str, Any]) -> bytes:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True).encode()
