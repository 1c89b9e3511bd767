"""A calibration: the lines of a model's heads, stored in a file that can be read, drawn and used in training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.core.files import replace_text
from tenfold.core.registry import first_problem
from tenfold.core.stored_files import LARGEST_TEXT, read_stored
from tenfold.encodings.calibrated import AttentionLine
from tenfold.features.calibration.line_selection import FiniteStrict, Head, Rules


class Accuracy(FiniteStrict):
    """Exact match on problems of the training lengths, with its 95% interval; of a text, the share of right tokens."""

    value: float
    n: int
    low: float
    high: float
    unit: str = "problems of its training lengths"

    def __str__(self) -> str:
        interval = f"95% interval {self.low:.1%} to {self.high:.1%}"
        return f"{self.value:.1%} of {self.n} {self.unit} ({interval})"


class Calibration(FiniteStrict):
    """Lines of a model's heads, the rules that chose them, and the accuracy of the model."""

    run: str  # the calibrated run
    kind: str  # kind of model, such as seq2seq
    layers: int
    heads_a_layer: int
    samples: int
    rules: Rules
    accuracy: Accuracy
    interpolates: bool  # false if it was calibrated in spite of a low accuracy
    heads: tuple[Head, ...]
    notes: tuple[str, ...] = ()
    text: bool = False  # of a language model, whose accuracy is that of single tokens

    @pydantic.model_validator(mode="after")
    def _within(self) -> Calibration:
        for head in self.heads:
            if not (1 <= head.layer <= self.layers and 1 <= head.head <= self.heads_a_layer):
                raise ValueError(
                    f"there is no head {head.head} of layer {head.layer} in {self.layers} layers of "
                    f"{self.heads_a_layer} heads"
                )
        return self

    @property
    def lines(self) -> list[AttentionLine]:
        """Lines of all heads. Lines found in the last layer are applied to every layer."""
        return [
            line
            for head in self.heads
            for line in head.lines(
                None if self.rules.source == "last" else head.layer,
                self.rules.soft,
                self.rules.best,
            )
        ]

    @property
    def kept(self) -> int:
        """The number of lines; the floors of a soft bias do not count."""
        return sum(len(head.kept) for head in self.heads)

    @property
    def transparent(self) -> list[Head]:
        """The heads that keep nothing."""
        return [head for head in self.heads if not head.kept]

    def encoding(self) -> dict[str, Any]:
        """The value of a recipe's `pe`."""
        lines = [line.model_dump(mode="json", exclude_none=True) for line in self.lines]
        return {"name": "calibrated", "lines": lines} | ({"question": "all"} if self.text else {})

    def save(self, path: Path) -> None:
        """Write JSON, with one text line for each attention line."""
        about = self.model_dump(mode="json", exclude={"heads"})
        parts = [f' "{key}": {json.dumps(value)}' for key, value in about.items()]
        heads = ",\n".join(map(_written, self.heads))
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, "{\n" + ",\n".join(parts) + f',\n "heads": [\n{heads}\n ]\n}}\n')

    @classmethod
    def read(cls, path: Path | str) -> Calibration:
        path = Path(path)
        try:
            data = read_stored(path.parent, path.name, LARGEST_TEXT)
            return cls.model_validate(json.loads(data))
        except FileNotFoundError:
            raise TenfoldError(f"cannot read {path}: No such file or directory") from None
        except pydantic.ValidationError as error:
            raise TenfoldError(f"{path} is not a calibration: {first_problem(error)}") from None
        except (ValueError, RecursionError):  # a file that is not text raises a ValueError too
            raise TenfoldError(f"{path} is not a calibration: it is not JSON") from None

    def check_fits(self, kind: str, layers: int, heads: int) -> None:
        """Raise an error if the lines do not fit a model of this kind and size."""
        if kind != self.kind:
            raise TenfoldError(
                f'the calibration is of a model of the kind "{self.kind}", whose lines say nothing of one of the '
                f'kind "{kind}"'
            )
        if heads != self.heads_a_layer:
            raise TenfoldError(
                f"the calibration is of {self.heads_a_layer} heads a layer, the model has {heads}; "
                f"--model.heads {self.heads_a_layer} is right"
            )
        if self.rules.source == "each" and layers != self.layers:
            raise TenfoldError(
                f"the calibration is of {self.layers} layers, each its own, the model has {layers}; "
                f"--model.layers {self.layers} is right, or calibrate with --from last"
            )


Positions = Literal["keep", "drop"]


def _written(head: Head) -> str:
    """A head as JSON, with one text line for each attention line."""
    about = head.model_dump(mode="json", exclude={"families"})
    families = []
    for family in head.families:
        known = family.model_dump(mode="json", exclude={"lines"})
        lines = ",\n".join(
            f"    {json.dumps(line.model_dump(mode='json', exclude_none=True) | {'cells': line.cells})}"
            for line in family.lines
        )
        families.append(f'   {json.dumps(known)[:-1]}, "lines": [\n{lines}]}}')
    return f'  {json.dumps(about)[:-1]}, "families": [\n' + ",\n".join(families) + "]}"
