"""Reasons to end a training before its last step; features add theirs by entry points of the group `tenfold.stops`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tenfold.core.registry import Registry
from tenfold.models import Model

if TYPE_CHECKING:
    from tenfold.runs.run import Run


class Stop(Protocol):
    """Made from a `Built` recipe and called after every step."""

    def __call__(self, model: Model, step: int) -> str | None:
        """The name of the reason, if training shall end now."""

    def write(self, run: Run) -> None:
        """Write what ended the training into the run's folder; called once training has ended for this reason."""


STOPS: Registry[Stop] = Registry("stop", "tenfold.stops")
