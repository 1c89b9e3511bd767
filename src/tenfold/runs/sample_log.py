"""Logs of samples: every problem, its truth, the answer, and how far its longest carry runs.

{"run": "...", "seed": 0, "checkpoint": "best", "length": 2, "slice": "uniform", "prompt": "97+5",
 "truth": "102", "answer": "92", "right": false, "cascade": 2, "evaluated_pe": ""}
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batcher
from tenfold.data.tasks.task import Examples, Ints
from tenfold.evals.exact_match import Log

Fields = dict[str, Any]
SAMPLES_FILE = "samples.jsonl"
SampleSink = Callable[[list[Fields]], None]  # is given the samples of a batch


class SampleLog:
    """A file of samples, a line of JSON each; `tenfold.results.sample_tables` writes Parquet.

    Whole or not there: it takes its name when the block ends without an error.

        with SampleLog("samples.jsonl") as log:
            run.evaluate([5, 10], log=log)

    With an examiner, as in training, `describe` turns the log into its callback:

        with SampleLog(folder / SAMPLES_FILE) as log:
            graded = describe(log, built.batcher, folder.name, recipe.seed, ["final", "best"])
            examiner.rows(answerer, lengths, slices, n, log=graded)

    One measurement may stand for several checkpoints, where the best one is the last.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lines = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        self._file: IO[str] | None = None

    def __enter__(self) -> SampleLog:
        if self.path.is_dir():  # known before anything is measured
            raise TenfoldError(f"cannot write samples to {self.path}: it is a folder; name a file")
        try:
            self._file = self._lines.open("w")
        except OSError as error:
            raise self._unwritable(error) from None
        return self

    def __call__(self, samples: list[Fields]) -> None:
        if self._file is None:
            raise TenfoldError(f"{self.path} is not open; write `with SampleLog(...) as log:`")
        try:
            self._file.writelines(json.dumps(sample) + "\n" for sample in samples)
        except OSError as error:
            raise self._unwritable(error) from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None
        file, self._file = self._file, None
        try:
            with file:
                file.flush()
                os.fsync(file.fileno())
            if kind is None:
                self._place()
        except OSError as problem:
            raise self._unwritable(problem) from None
        finally:
            self._lines.unlink(missing_ok=True)

    def _place(self) -> None:
        self._lines.replace(self.path)

    def _unwritable(self, error: OSError) -> TenfoldError:
        return TenfoldError(f"cannot write samples to {self.path}: {error.strerror or error}")


def describe(
    log: SampleSink,
    batcher: Batcher,
    run: str,
    seed: int,
    checkpoints: Sequence[str],
    evaluated_pe: str = "",
) -> Log:
    """A callback for an examiner: it gives `log` the samples of every batch, once for each checkpoint.

    `evaluated_pe` is the encoding that is used in the place of the run's own, if there is one.
    """

    def record(
        length: int, label: str, examples: Examples, answer: Ints, right: np.ndarray
    ) -> None:
        task, written, vocabulary = batcher.task, batcher.format, batcher.vocabulary
        carries = task.cascade(examples)
        cascades = [None] * len(examples) if carries is None else carries.tolist()
        samples = [
            {
                "length": length,
                "slice": label,
                "prompt": batcher.question(examples, row),
                "truth": task.truth(examples, row),
                "answer": written.read(answer[row], vocabulary, examples, row),
                "right": verdict,
                "cascade": cascade,
                "evaluated_pe": evaluated_pe,
            }
            for row, (verdict, cascade) in enumerate(zip(right.tolist(), cascades, strict=True))
        ]
        for which in checkpoints:
            known = {"run": run, "seed": seed, "checkpoint": which}
            log([known | sample for sample in samples])

    return record
