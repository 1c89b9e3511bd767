"""Index hints (Zhou et al. 2024, arXiv 2402.09371): a mark before each digit says which digits belong together.

Shapes: N examples, Q tokens of a question, A tokens of an answer.
"""

from __future__ import annotations

import numpy as np
from pydantic import PositiveInt

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import Ends, Line, Reversed, Written
from tenfold.data.formats.woven import Squeeze, alternating
from tenfold.data.roles import Role
from tenfold.data.tasks.chance import draws
from tenfold.data.tasks.task import Examples, Ints, Task, Vocabulary


class Hinted(Reversed):
    """`12+345` is `h4 2 h5 1 + h4 5 h5 4 h6 3`, answered `h4 7 h5 5 h6 3 ;`: one hint for all digits of a significance.

    Numbers begin with their units. The hints of a problem are a run of the `hints` that there are, in order. Where the run
    begins follows from the problem's digits, so that training on short problems shows all hints.
    """

    name = "hinted"
    gives = "significance"

    def __init__(self, hints: PositiveInt = 64) -> None:
        super().__init__(operands="reversed")
        self.hints = hints

    def ends(self) -> Ends | None:
        return None

    def by_column(self, task: Task) -> bool:
        return False  # every second token of an answer is a hint

    def vocabulary(self, task: Task) -> Vocabulary:
        return task.vocabulary.with_words([f"h{number}" for number in range(self.hints)])

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        most = int(examples.most.max())
        if most > self.hints:
            raise TenfoldError(
                f'an answer of up to {most} digits does not fit the format "{self.name}" with {self.hints} hints; '
                f"{most} hints would be right"
            )
        bare = super().write(examples, vocabulary)
        starts = (self.hints + 1 - examples.most).astype(np.uint64)  # where a run may begin
        first = (draws(examples, 1)[:, 0] % starts).astype(np.int64)
        hint = len(vocabulary.symbols) + first[:, None]  # of the units, (N, 1)
        question, size = self._question(bare.question, hint, vocabulary)
        answer = self._answer(bare.answer, bare.graded[:, None], hint, vocabulary.pad)
        return Written(question, size, answer, 2 * bare.graded - 1, 2 * bare.budget - 1)

    def _question(self, line: Line, hint: Ints, vocabulary: Vocabulary) -> tuple[Line, Ints]:
        """With a hint before each digit, and how many tokens each question has."""
        digit = line.significance >= 0  # (N, Q)
        nowhere = np.full_like(line.tokens, -1)
        text = np.where(digit, Role.TEXT, -1)
        squeeze = Squeeze(alternating(digit, line.role >= 0))
        doubled = Line(
            alternating(hint + line.significance, line.tokens),
            alternating(text, line.role),
            alternating(nowhere, line.significance),
            alternating(nowhere, line.column),
        )
        return squeeze.line(doubled, vocabulary.pad), squeeze.count

    def _answer(self, line: Line, graded: Ints, hint: Ints, pad: int) -> Line:
        """With a hint before each digit; the end stands where the next hint would."""
        place = np.arange(line.tokens.shape[1], dtype=np.int64)[None]  # (1, A)
        ended = place >= graded - 1
        before = np.where(ended, line.tokens, hint + place)
        digits = np.where(ended, pad, line.tokens)
        role = np.broadcast_to(line.role, place.shape)
        nowhere = np.full_like(place, -1)
        doubled = (
            alternating(before, digits), alternating(role, role), alternating(nowhere, place),
            alternating(place, place),
        )  # fmt: skip
        return Line(*(each[:, :-1] for each in doubled))

    def read(
        self, tokens: Ints, vocabulary: Vocabulary, examples: Examples | None = None, row: int = 0
    ) -> str:
        """The digits without their hints."""
        digits = tokens[tokens < len(vocabulary.symbols)]
        return super().read(digits, vocabulary, examples, row)
