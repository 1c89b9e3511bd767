"""What a task of two whole numbers computes, where theory can count with it: a sum or a product, maybe modulo a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenfold.core.errors import TenfoldError


@dataclass(frozen=True)
class Operation:
    """`Operation(product=True, modulus=51)`: 97, 5 -> 485 mod 51.

    >>> Operation(product=True, modulus=51)(97, 5), Operation(product=False)(97, 5)
    (26, 102)
    """

    product: bool
    modulus: int | None = None

    def __post_init__(self) -> None:
        if self.modulus is not None and self.modulus < 1:
            raise TenfoldError(f"a modulus of {self.modulus}; at least 1")

    def __call__(self, a: Any, b: Any) -> Any:
        """Of integers, or of arrays of them."""
        whole = a * b if self.product else a + b
        return whole if self.modulus is None else whole % self.modulus
