"""Logs of samples as Parquet tables."""

from __future__ import annotations

from pathlib import Path

from tenfold.core.files import write_atomically
from tenfold.results.row_schema import SAMPLES
from tenfold.results.tables import lines_as_parquet
from tenfold.runs.sample_log import SampleLog


class ParquetSamples(SampleLog):
    """A log of samples that is written as Parquet when it is closed."""

    def _place(self) -> None:
        write_atomically(self.path, lines_as_parquet(self._lines, SAMPLES))


def sample_log(path: Path | str) -> SampleLog:
    """A log of samples in the format of the file's name: Parquet for `.parquet`, else a line of JSON each."""
    return ParquetSamples(path) if Path(path).suffix == ".parquet" else SampleLog(path)
