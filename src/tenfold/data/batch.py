"""From written examples to tensors, per layout; the one place where numpy meets torch.

In every layout the answer is read at the *last* A positions of a sequence, so that a model computes its
last layer for those alone:

- `in_place`: the question itself, read at its last A tokens (those of them that answer: text may stand between);
- `causal`: question, `=`, answer but for its last token; `=` predicts the first answer token;
- `seq2seq`: the question in the encoder; `start` and the answer but for its last token in the decoder.

Shapes: B batch, T tokens of a sequence, A answer tokens.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import Misfit, unknown
from tenfold.data.formats.numeric import Format, Line, Written
from tenfold.data.places import Places
from tenfold.data.roles import Role
from tenfold.data.schemes import Scheme, periods
from tenfold.data.tasks.task import Examples, Ints, Task, Vocabulary

IGNORED = -100  # a target that is not graded


@dataclass(frozen=True)
class Tokens:
    """Tokens with their places; `valid` is None when no row is padded."""

    tokens: Tensor  # (B, T)
    places: Places
    valid: Tensor | None = None  # (B, T) bool

    def to(self, device: torch.device | str) -> Tokens:
        valid = None if self.valid is None else self.valid.to(device)
        return Tokens(self.tokens.to(device), self.places.to(device), valid)

    def rows(self, which: slice | Tensor) -> Tokens:
        """Some rows; what all rows share stays as it is."""
        count = len(self.tokens)
        axes = {name: self.places[name] for name in self.places}
        axes = {name: axis[which] if len(axis) == count else axis for name, axis in axes.items()}
        valid = self.valid
        if valid is not None and len(valid) == count:
            valid = valid[which]
        return Tokens(self.tokens[which], Places(**axes), valid)


@dataclass(frozen=True)
class Batch:
    """What a model takes: the sequence it answers in, and for an encoder-decoder the source it reads."""

    sequence: Tokens
    target: Tensor  # (B, A), IGNORED where nothing is graded
    given: int  # how many leading tokens of the sequence are the question; the rest is the answer
    source: Tokens | None = None

    def __len__(self) -> int:
        return len(self.target)

    @property
    def read(self) -> int:
        """How many positions at the end of the sequence are read."""
        return self.target.shape[1]

    @property
    def row_tokens(self) -> int:
        """Tokens of a row, of the source and the sequence."""
        sources = 0 if self.source is None else self.source.tokens.shape[1]
        return sources + self.sequence.tokens.shape[1]

    def to(self, device: torch.device | str) -> Batch:
        source = None if self.source is None else self.source.to(device)
        return Batch(self.sequence.to(device), self.target.to(device), self.given, source)

    def rows(self, which: slice | Tensor) -> Batch:
        """Some rows: a slice of them, or those that a mask or their numbers name."""
        source = None if self.source is None else self.source.rows(which)
        return Batch(self.sequence.rows(which), self.target[which], self.given, source)

    def without_answer(self, blank: int) -> Batch:
        """The batch without its answer: what a model may see when it is examined."""
        tokens = self.sequence.tokens.clone()
        tokens[:, self.given :] = blank
        target = torch.full_like(self.target, IGNORED)
        return replace(self, sequence=replace(self.sequence, tokens=tokens), target=target)


def in_place(written: Written, vocabulary: Vocabulary) -> Batch:
    size = written.question.tokens.shape[1]
    index = _index(
        written.question,
        size - written.question_length,
        np.full_like(written.question_length, size),
    )
    return Batch(_tokens(written.question, index), _target(written), given=size)


def causal(written: Written, vocabulary: Vocabulary) -> Batch:
    question, answer = written.question, written.answer
    joined = _before_answer(question, answer, vocabulary.equals)
    given = question.tokens.shape[1] + 1
    index = _index(joined, given - 1 - written.question_length, given - 1 + written.budget)
    return Batch(_tokens(joined, index), _target(written), given)


def seq2seq(written: Written, vocabulary: Vocabulary) -> Batch:
    question = written.question
    size = question.tokens.shape[1]
    source = _tokens(
        question,
        _index(
            question, size - written.question_length, np.full_like(written.question_length, size)
        ),
    )
    nothing = Line(*(np.zeros((len(written.question_length), 0), dtype=np.int64) for _ in range(4)))
    answer = _before_answer(nothing, written.answer, vocabulary.start)
    index = _index(answer, np.zeros_like(written.budget), written.budget)
    return Batch(_tokens(answer, index), _target(written), given=1, source=source)


def _index(line: Line, first: Ints, stop: Ints) -> Ints:
    """0, 1, 2, ... from each row's first token to its last, -1 before and after; one row if all are alike."""
    if (first == first[0]).all() and (stop == stop[0]).all():
        first, stop = first[:1], stop[:1]
    here = np.arange(line.tokens.shape[1], dtype=np.int64)[None]
    inside = (here >= first[:, None]) & (here < stop[:, None])
    return np.where(inside, here - first[:, None], -1)


LAYOUTS: dict[str, Callable[[Written, Vocabulary], Batch]] = {
    "in_place": in_place,
    "causal": causal,
    "seq2seq": seq2seq,
}


@dataclass(frozen=True)
class Batcher:
    """Examples in, tensors out: a task's format, a model's layout, and the schemes of a recipe."""

    task: Task
    format: Format
    layout: str
    schemes: Sequence[Scheme] = ()

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise unknown("layout", self.layout, LAYOUTS)
        if self.layout not in self.format.layouts:
            raise Misfit(
                f'format "{self.format.name}" cannot be laid out as "{self.layout}"; '
                f"it can as {', '.join(sorted(self.format.layouts))}",
                "model",
                "format",
            )

        _ = self.vocabulary  # a format may not have the words for a task

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        return self.format.vocabulary(self.task)

    @property
    def periods(self) -> dict[str, int]:
        """The axes on which the schemes repeat their places, and after how many tokens."""
        return {axis: n for scheme in self.schemes for axis, n in periods(scheme).items()}

    def parse(self, text: str) -> Examples:
        """The example that a person wrote."""
        return self.format.parse(self.task, text)

    def question(self, examples: Examples, row: int) -> str:
        """The problem as a person writes it."""
        return self.format.question(self.task, examples, row)

    def __call__(self, examples: Examples, generator: torch.Generator | None = None) -> Batch:
        vocabulary = self.vocabulary
        batch = LAYOUTS[self.layout](self.format.write(examples, vocabulary), vocabulary)
        if not self.schemes:
            return batch
        state = None if generator is None else generator.get_state()
        source = None if batch.source is None else placed(batch.source, self.schemes, generator)
        if generator is not None and state is not None:
            generator.set_state(
                state
            )  # both sides of an encoder-decoder draw alike: one start a row
        return replace(
            batch, sequence=placed(batch.sequence, self.schemes, generator), source=source
        )


def placed(
    sequence: Tokens, schemes: Sequence[Scheme], generator: torch.Generator | None = None
) -> Tokens:
    """A sequence with the axes that schemes add."""
    places = sequence.places
    for scheme in schemes:
        places = scheme(sequence.tokens, places, generator)
    return replace(sequence, places=places)


def running_text(
    tokens: Tensor, schemes: Sequence[Scheme] = (), generator: torch.Generator | None = None
) -> Batch:
    """Text (B, T + 1) in which every token predicts the next; all that is known of a token is where it stands.

    >>> batch = running_text(torch.tensor([[5, 6, 7]]))
    >>> batch.sequence.tokens.tolist(), batch.target.tolist()
    ([[5, 6]], [[6, 7]])
    """
    given = tokens[:, :-1]
    index = torch.arange(given.shape[1])[None]
    places = Places(index=index, role=torch.full_like(index, Role.TEXT))
    return Batch(placed(Tokens(given, places), schemes, generator), tokens[:, 1:], given=1)


def _before_answer(question: Line, answer: Line, first: int) -> Line:
    """The question, the token `first`, and the answer but for its last token, which predict the answer."""
    n = len(answer.tokens)

    def joined(name: str, between: int | None) -> Ints:
        before, after = getattr(question, name), getattr(answer, name)
        parts = [np.broadcast_to(before, (n, before.shape[1]))]
        if between is None:  # a predicting token works on the column that it predicts
            parts.append(np.broadcast_to(after, (n, after.shape[1])))
        else:
            parts.append(np.full((n, 1), between, dtype=np.int64))
            parts.append(np.broadcast_to(after[:, :-1], (n, after.shape[1] - 1)))
        return np.concatenate(parts, axis=1)

    return Line(
        joined("tokens", first),
        joined("role", Role.OPERATOR),
        joined("significance", -1),
        joined("column", None),
    )


def _tokens(line: Line, index: Ints) -> Tokens:
    padded = bool((index < 0).any())
    facts = {"role": line.role, "significance": line.significance, "column": line.column}
    if padded:
        facts = {name: np.where(index >= 0, fact, -1) for name, fact in facts.items()}
    places = Places(index=torch.from_numpy(index), **{k: _tensor(v) for k, v in facts.items()})
    valid = torch.from_numpy(index >= 0) if padded else None
    return Tokens(_tensor(line.tokens), places, valid)


def _tensor(array: Ints) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


def _target(written: Written) -> Tensor:
    tokens = written.answer.tokens
    graded = np.arange(tokens.shape[1])[None] < written.graded[:, None]
    return torch.from_numpy(np.where(graded & (tokens >= 0), tokens, IGNORED))
