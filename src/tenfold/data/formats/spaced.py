"""Random spaces (Shen et al. 2023, arXiv 2311.14737): no digit stands at a position that belongs to its significance.

Shapes: N examples, Q tokens of a question.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pydantic

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import Ends, Line, Written
from tenfold.data.formats.woven import Squeeze, alternating
from tenfold.data.roles import Role
from tenfold.data.tasks.chance import draws
from tenfold.data.tasks.task import Examples, Task, Vocabulary

PARTS = 1 << 16  # of a share


class Spaced(Interleaved):
    """Columns side by side, with a space before a `share` of the tokens: `12+345` may be `+ ~ 0 3 1 ~ 4 2 5`.

    The answer has no spaces. Where they stand follows from the problem's digits, also in evaluation.
    """

    name = "spaced"

    def __init__(self, share: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.25) -> None:
        super().__init__()
        if not 0 <= share <= 1:
            raise TenfoldError(f"a share of {share} of the tokens has a space; 0 to 1 is right")
        self.share = share

    def ends(self) -> Ends | None:
        return None

    def vocabulary(self, task: Task) -> Vocabulary:
        return task.vocabulary.with_words(["~"])

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        bare = super().write(examples, vocabulary)
        line = bare.question
        bits = draws(examples, line.tokens.shape[1])[:, ::-1]  # from the right, as rows are aligned
        inside = line.role >= 0  # (N, Q)
        spaced = inside & (bits % np.uint64(PARTS) < round(self.share * PARTS))
        space = np.full_like(line.tokens, len(vocabulary.symbols))
        nowhere = np.full_like(line.tokens, -1)
        text = np.full_like(line.tokens, Role.TEXT)
        squeeze = Squeeze(alternating(spaced, inside))
        question = Line(
            alternating(space, line.tokens), alternating(text, line.role), alternating(nowhere, line.significance),
            alternating(nowhere, line.column),
        )  # fmt: skip
        return Written(
            squeeze.line(question, vocabulary.pad),
            squeeze.count,
            bare.answer,
            bare.graded,
            bare.budget,
        )
