"""Columns side by side: the digits of one column stand next to each other (`bias` paper).

Shapes: N examples, Q tokens of a question.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.errors import TenfoldError
from tenfold.data.formats.numeric import Ends, Padded, Written, blank, fill
from tenfold.data.roles import Role
from tenfold.data.tasks.task import Examples, Vocabulary


class Interleaved(Padded):
    """Columns side by side, zero-padded: `12+345` is written `+031425`, answered `753;` (`bias` paper).

    A multiplier of one digit stands in every column: `6*47` is written `*6467`. One operand alone has no operator.
    With `mark` it has one too, `S0123`, and the operator has a column, the one above all digits: what looks at columns
    alone then sees where they end.
    """

    name = "interleaved"
    layouts = frozenset({"causal", "seq2seq"})

    def __init__(
        self, width: int | None = None, spare: int | None = None, mark: bool = False
    ) -> None:
        super().__init__(width, spare)
        self.marked = mark

    def ends(self) -> Ends | None:
        return "together" if self.width is None else None

    def write(self, examples: Examples, vocabulary: Vocabulary) -> Written:
        self.check(examples)
        n, terms, width = examples.operands.shape
        if (examples.hubs >= 0).any() and examples.room > 1:
            raise TenfoldError(
                f'a multiplier of up to {examples.room} digits does not fit the format "{self.name}", '
                "which repeats it in every column; one digit fits"
            )
        widths = self.widths(examples)
        columns = examples.longest if widths is None else widths
        marked = terms > 1 or self.marked
        size = columns * terms + marked
        question = blank(n, int(size.max()), vocabulary)
        from_right = np.arange(question.tokens.shape[1] - 1, -1, -1)[None]  # (1, Q)
        place = from_right // terms
        for m in range(terms):
            inside = (place < columns[:, None]) & (from_right % terms == terms - 1 - m)
            own = np.where(examples.hubs == m, 0, place)  # its significance, (N|1, Q)
            digit = np.take_along_axis(examples.operands[:, m], own.clip(max=width - 1), 1)
            digit = np.where(own < width, digit, 0)
            fill(question, inside, digit, examples.role(m), own, place)
        if marked:
            first = from_right == columns[:, None] * terms
            operator = vocabulary.operator + examples.operator_before(1)
            above = columns[:, None] if self.marked else -1
            fill(question, first, operator, Role.OPERATOR, -1, above)
        return Written(question, size, *self.answer(examples, vocabulary))
