"""What is known of committed runs of the league beside their rows: rates that were tried, stages, where a ladder ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import read_json_mapping
from tenfold.results.row_schema import Count, Seconds, short

DETAILS = "details.json"  # beside the rows


class KnownStage(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    steps: Count
    seconds: Seconds


class KnownRun(pydantic.BaseModel):
    """What is read of a run's details; there may be more."""

    model_config = pydantic.ConfigDict(strict=True)
    budget: float | None = None
    declared: str | None = None  # the signature of its entry; early rows have none
    ended: str = ""
    stages: list[KnownStage] = []


def read_details(folder: Path) -> dict[str, Any]:
    """What is known of committed runs, by fingerprint, checked; nothing where there is no file."""
    try:
        stored = read_json_mapping(folder, DETAILS, "what is known of runs")
        pydantic.TypeAdapter(dict[str, KnownRun]).validate_python(stored)
    except FileNotFoundError:
        return {}
    except pydantic.ValidationError as error:
        raise TenfoldError(f"{folder / DETAILS} is damaged: {short(first_problem(error))}") from None  # fmt: skip
    return stored
