"""Read a bias that is written as a formula of the distance, such as `-log(1 + (k*n)**2)`, without executing it as Python.

The text is parsed into a tree, and the tree is evaluated. Only numbers, known names, the operators + - * / ** and six
functions are allowed. Numbers are kept exact (0.1 is a tenth), for the analysis in `asymptotics.py`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError, unknown

Floats = NDArray[np.float64]
T = TypeVar("T")

LONGEST, MOST_PARTS = 500, 200  # characters, and nodes of the tree
SHOWN = 60  # characters of an invalid formula that are quoted
DISTANCE = "n"
CONSTANTS = {"pi": math.pi}
FUNCTIONS = {"log": 1, "exp": 1, "sqrt": 1, "abs": 1, "min": 2, "max": 2}  # and how many arguments
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
}  # fmt: skip
RIGHT = f"numbers, n, parameters, + - * / **, {', '.join(FUNCTIONS)} and pi are right"


class Algebra(Protocol[T]):
    """A domain in which a formula can be evaluated: floats, expansions for large n, ..."""

    def number(self, value: Fraction | float) -> T: ...
    def distance(self) -> T: ...
    def apply(self, operation: str, *given: T) -> T: ...


@dataclass(frozen=True)
class Formula:
    """`Formula.read("-k*n", {"k": 0.25})(np.arange(3.0))` is 0, -0.25, -0.5.

    >>> Formula.read("-log(1 + (k*n)**2)", {"k": 0.5})(np.array([0.0, 2.0])).round(4).tolist()
    [-0.0, -0.6931]
    >>> Formula.read("__import__('os').system('ls')")
    Traceback (most recent call last):
    tenfold.core.errors.TenfoldError: the formula calls "__import__('os').system"; it may call log, exp, sqrt, abs, min, max
    """

    text: str
    tree: ast.expr
    parameters: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def read(cls, text: str, parameters: Mapping[str, float | str] | None = None) -> Formula:
        """Parse and check a formula. Every name must be n, a constant, or a given parameter."""
        text = " ".join(text.split())
        given = {name: exact(name, value) for name, value in (parameters or {}).items()}
        for name in given:
            if name in (DISTANCE, *CONSTANTS, *FUNCTIONS):
                raise TenfoldError(f'a parameter "{name}"; that name is taken, choose another')
        tree = _parsed(text)
        used = _check(tree, set(given), text)
        for name in given:
            if name not in used:
                raise TenfoldError(f'the parameter "{name}" does not occur in "{text}"')
        return cls(text, tree, tuple(given.items()))

    def __call__(self, n: Floats) -> Floats:
        """log b at these distances. Raises an error where it is not a number."""
        with np.errstate(all="ignore"):
            value = np.broadcast_to(self.within(_Numbers(n)), n.shape).astype(np.float64)
        bad = np.isnan(value) | (value == math.inf)
        if bad.any():
            at = n[bad][0]
            problem = "infinite" if value[bad][0] == math.inf else "not a number"
            raise TenfoldError(f'the bias "{self.text}" is {problem} at the distance {at:.6g}')
        return value

    def within(self, algebra: Algebra[T]) -> T:
        """Evaluate the formula in an algebra."""
        return _Walk(algebra, dict(self.parameters), self.text).of(self.tree)


def exact(name: str, value: float | str) -> Fraction:
    """The exact value: 0.1 is a tenth, not the nearest float."""
    try:
        near = float(str(value))
    except ValueError:
        near = math.nan
    if not near and re.search(r"[1-9]", str(value).lower().partition("e")[0]):
        raise TenfoldError(
            f"{name} = {_short(str(value))} is too small to compute with; one such as 1e-300 is right"
        )
    if math.isfinite(near):  # first, since 1e999999999 as a fraction would fill the memory
        return Fraction(str(value)) if near else Fraction(0)
    raise TenfoldError(f"{name} = {_short(str(value))}; a finite number such as 0.25 is right")


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise TenfoldError(f"a formula of {len(text)} characters; at most {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's warnings about unusual literals
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise TenfoldError(
            f'"{_short(text)}" is not a formula; one such as -log(1+(k*n)**2) is'
        ) from None


def _check(tree: ast.expr, known: set[str], text: str) -> set[str]:
    """Raise an error for anything but arithmetic. Returns the names that occur."""
    used: set[str] = set()
    parts = 0
    waiting: list[ast.expr] = [tree]
    while waiting:
        node, parts = waiting.pop(), parts + 1
        if parts > MOST_PARTS:
            raise TenfoldError(f"a formula of more than {MOST_PARTS} parts; write a shorter one")
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                _literal(node, text)
            case ast.Name(id=name):
                if name not in {DISTANCE, *CONSTANTS, *known}:
                    hint = {DISTANCE, *CONSTANTS, *known}
                    raise _unknown_name(name, hint)
                used.add(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                waiting.append(operand)
            case ast.BinOp(op=ast.BitXor()):
                raise TenfoldError(f'"^" in "{text}"; powers are written n**2')
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OPERATORS:
                waiting += [left, right]
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                wrong = len(args) < FUNCTIONS[name] or (FUNCTIONS[name] == 1 and len(args) > 1)
                if wrong or any(isinstance(arg, ast.Starred) for arg in args):
                    raise TenfoldError(
                        f"{name} of {len(args)} numbers; {name} takes {_takes(name)}"
                    )
                waiting += args
            case ast.Call(func=func):
                called = ast.unparse(func)
                raise TenfoldError(
                    f'the formula calls "{called}"; it may call {", ".join(FUNCTIONS)}'
                )
            case _:
                raise TenfoldError(f'"{ast.unparse(node)}" is not allowed in a formula; {RIGHT}')
    return used


def _literal(node: ast.Constant, text: str) -> Fraction:
    """A number exactly as written: 1.00000000000000001 is not 1."""
    return exact("a number", ast.get_source_segment(text, node) or repr(node.value))


def _takes(name: str) -> str:
    return "one" if FUNCTIONS[name] == 1 else "two or more"


def _unknown_name(name: str, known: set[str]) -> TenfoldError:
    problem = unknown("name in the formula", name, known)
    return TenfoldError(f"{problem}; parameters are given as --param {name}=0.25")


@dataclass(frozen=True)
class _Walk(Generic[T]):
    algebra: Algebra[T]
    parameters: dict[str, Fraction]
    text: str

    def of(self, node: ast.expr) -> T:
        match node:
            case ast.Constant():
                return self.algebra.number(_literal(node, self.text))
            case ast.Name(id=name) if name == DISTANCE:
                return self.algebra.distance()
            case ast.Name(id=name):
                number = self.parameters[name] if name in self.parameters else CONSTANTS[name]
                return self.algebra.number(number)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.algebra.apply("*", self.algebra.number(Fraction(-1)), self.of(operand))
            case ast.UnaryOp(operand=operand):
                return self.of(operand)
            case ast.BinOp(op=op, left=left, right=right):
                return self.algebra.apply(OPERATORS[type(op)], self.of(left), self.of(right))
            case ast.Call(func=ast.Name(id=name), args=[first, *others]):
                value = self.of(first)
                for other in others:  # min and max of several arguments, two at a time
                    value = self.algebra.apply(name, value, self.of(other))
                return value if others else self.algebra.apply(name, value)
            case _:
                raise AssertionError("refused when it was read")


@dataclass(frozen=True)
class _Numbers:
    """The algebra of floats, for arrays of distances."""

    n: Floats

    def number(self, value: Fraction | float) -> Any:
        return np.float64(
            float(value)
        )  # a numpy float: 9**9**9 is infinite, not an integer of a billion digits

    def distance(self) -> Any:
        return self.n

    def apply(self, operation: str, *given: Any) -> Any:
        return NUMPY[operation](*given)


NUMPY: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "log": np.log, "exp": np.exp, "sqrt": np.sqrt, "abs": np.abs, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
