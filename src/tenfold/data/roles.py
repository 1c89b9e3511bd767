"""What a token does in the text; stated by tasks, read by schemes, encodings and proofs."""

from __future__ import annotations

import enum

ROLES = 32  # upper bound on the number of roles; a task has few operands


class Role(enum.IntEnum):
    """Operand m (from 0) has role `OPERAND + m`.

    Where only some problems have a hub (sums and products in one model), it has a role of its own, after all operands.
    """

    TEXT = 0
    OPERATOR = 1
    ANSWER = 2
    OPERAND = 3
