"""The command line, a module a part. Commands import what they need when they run: `tenfold --help` does not wait for torch."""

from tenfold.cli import (  # noqa: F401 (they add their commands)
    calibrating,
    inside,
    ledger,
    looking,
    predicting,
    proving,
    reach,
    results,
    running,
    sweeping,
    theory,
)
from tenfold.cli.shared import app, parse_lengths
from tenfold.cli.start import main

__all__ = ["app", "main", "parse_lengths"]
