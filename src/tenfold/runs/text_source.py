"""Text of a corpus as a source of batches: stretches of the training text; perplexity of the rest."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.batch import IGNORED, Batch, Tokens, placed, running_text
from tenfold.data.corpora import CORPORA, WRITINGS
from tenfold.data.corpora.token_store import Store, stored, windows
from tenfold.data.corpora.tokenizers import END, Ids
from tenfold.data.schemes import SCHEMES
from tenfold.evals.exact_match import Log
from tenfold.evals.perplexity import SLICES, Reader, TextMemory
from tenfold.evals.statistics import Measurement
from tenfold.models import Model
from tenfold.runs.answer import Answer, Continuation, GoingOn
from tenfold.runs.machine_memory import available
from tenfold.runs.recipe import Data, Recipe
from tenfold.runs.source import Source
from tenfold.training.metrics_file import Metrics

SHOWN = 40  # characters of the text before an example
EXAMPLE = 24  # tokens that an example goes on for


class Text(Source):
    """The text that a recipe's `task` (a corpus) and `format` (bytes, characters, bpe) name.

    Made without reading anything: `prepare`, a batch and a measurement do that.
    """

    layouts: ClassVar[frozenset[str]] = frozenset({"causal"})
    running_text: ClassVar[bool] = True

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.corpus = CORPORA.build(recipe.task)
        if recipe.format.name not in WRITINGS.names():
            raise TenfoldError(
                f'the format "{recipe.format.name}" does not write text; '
                f"{', '.join(WRITINGS.names())} do"
            )
        self.writing = WRITINGS.build(recipe.format)
        self.schemes = [SCHEMES.bind(spec) for spec in recipe.schemes]
        for key in ("sampler", "noise"):
            if getattr(recipe.data, key) != getattr(Data(), key):
                raise TenfoldError(f"a text has no data.{key}; leave it out")

    expected: str | None = None  # the digest that the text must have, of a stored run

    def expect(self, text: object, folder: Path) -> None:
        """A run may name any file of ours. Its text is used only if the run knows the digest of this text."""
        if isinstance(text, str):
            self.expected = text
        elif self.corpus.private:
            raise TenfoldError(
                f'{folder} does not state the digest of its text, so the text that it names ("{self.corpus.name}") '
                "is not read"
            )

    @functools.cached_property
    def store(self) -> Store:
        named = (self.recipe.task, self.recipe.format)
        return stored(self.corpus, self.writing, named, self.expected, available())

    @property
    def vocabulary(self) -> int:
        return self.writing.size

    @property
    def end(self) -> int:
        return END

    def prepare(self) -> dict[str, Any]:
        length, counts = self.recipe.data.length, self.store.counts
        if counts["train"] <= length:
            raise TenfoldError(
                f"data.length is {length:,} tokens; the training text has {counts['train']:,}"
            )
        options = self.recipe.eval
        self._reader(0, False).passages(options.n, max(options.lengths))
        self._reader(0, True).passages(options.validation_n, max(self.recipe.validated))
        return self.store.about()

    def batch(
        self, n: int, length: int, rng: np.random.Generator, generator: torch.Generator | None
    ) -> Batch:
        drawn = windows(self.store.tokens("train"), n, length, rng)
        return running_text(torch.from_numpy(drawn.astype(np.int64)), self.schemes, generator)

    def like_batch(
        self, n: int, length: int, rng: np.random.Generator, generator: torch.Generator | None
    ) -> Batch:
        drawn = rng.integers(0, self.vocabulary, (n, length + 1))
        return running_text(torch.from_numpy(drawn), self.schemes, generator)

    def one(self, length: int) -> Batch:
        return running_text(torch.zeros(1, length + 1, dtype=torch.int64), self.schemes)

    def check_slices(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in SLICES:
                raise unknown("slice of a text", name, SLICES)

    def answerer(self, model: Model) -> Model:
        return model

    def measure(
        self,
        answerer: Model,
        lengths: Sequence[int],
        slices: Sequence[str],
        n: int,
        *,
        seed: int = 0,
        validation: bool = False,
        progress: Callable[[int, int], None] | None = None,
        log: Log | None = None,
        force: bool = False,
    ) -> list[Measurement]:
        if seed < 0:
            raise TenfoldError(f"a seed of {seed}; at least 0")
        reader = self._reader(seed, validation)
        if force:
            reader = replace(reader, memory=replace(reader.memory, most=math.inf))
        return reader.rows(answerer, lengths, slices, n, progress)

    def row_memory(self, length: int, answerer: Any = None) -> float:
        return self.memory.block(length)

    def _reader(self, seed: int, validation: bool) -> Reader:
        tokens = self.store.tokens("validation" if validation else "test")
        widths = self.writing.widths() if self.writing.lossless else None
        passage = max(self.recipe.validated if validation else self.recipe.eval.lengths)
        device = self.recipe.train.device
        return Reader(tokens, widths, self.schemes, passage, seed, self.memory, device)

    @property
    def memory(self) -> TextMemory:
        size = self.recipe.model
        return TextMemory(size.heads, size.width, size.layers, self.vocabulary)

    def score(self, rows: Sequence[Measurement]) -> tuple[float, Metrics]:
        by_length = {row.length: row.value for row in rows if row.metric == "perplexity"}
        losses = [row.value for row in rows if row.metric == "loss"]
        return -sum(losses) / len(losses), {"perplexity": by_length}

    def ask(self, answerer: Model, question: str, how: GoingOn | None) -> Answer:
        _ = self.store  # what it learned of the text is needed to write the question
        ids = self.writing.ids(question.replace("\0", ""))
        if not len(ids):
            raise TenfoldError(
                'there is nothing to continue; a beginning is wanted, such as "def f("'
            )
        return Continuation(question, self._continued(answerer, ids, how or GoingOn()), None)

    def examples(self, answerer: Model, length: int, count: int, seed: int) -> list[Answer]:
        """How the model goes on after stretches of `length` tokens of the test text, and how the text does."""
        rng = np.random.default_rng((seed, length, 10))
        drawn = windows(self.store.tokens("test"), 8 * count, length + EXAMPLE - 1, rng)
        begun = [self.writing.text(each[max(0, length - 4 * SHOWN) : length]) for each in drawn]
        within = [
            bool(text.rpartition("\n")[2].strip()) for text in begun
        ]  # a line, not its margin
        examples: list[Answer] = []
        for row in sorted(range(len(drawn)), key=lambda row: not within[row])[:count]:
            text = self._continued(answerer, drawn[row][:length], GoingOn(EXAMPLE))
            shown = begun[row].rpartition("\n")[2] if within[row] else begun[row]
            truth = self.writing.text(drawn[row][length:])
            examples.append(Continuation(shown[-SHOWN:], text, truth))
        return examples

    def _continued(self, model: Model, ids: Ids, how: GoingOn) -> str:
        if how.tokens < 1 or not 0 <= how.temperature < float("inf"):
            raise TenfoldError(
                f"{how.tokens} tokens at a temperature of {how.temperature:g}; at least 1, and at least 0"
            )
        whole = len(ids) + how.tokens - 1
        if whole * self.memory.query(whole) > 8 * self.memory.bytes:
            raise TenfoldError(
                f"a text of {len(ids):,} tokens and {how.tokens:,} more do not fit into memory; ask for less"
            )
        tokens = torch.full((1, whole + 1), END)
        tokens[0, : len(ids)] = torch.from_numpy(ids.astype(np.int64))
        sequence: Tokens = placed(running_text(tokens).sequence, self.schemes)
        target = torch.full((1, how.tokens), IGNORED)
        batch = Batch(sequence, target, given=len(ids)).to(self.recipe.train.device)
        written = model.write(batch, _chooser(how))[0].cpu().numpy()
        ended = np.flatnonzero(written == END)
        return self.writing.text(written[: ended[0]] if len(ended) else written)


def _chooser(how: GoingOn) -> Callable[[Tensor], Tensor]:
    """The likeliest token, or one drawn with the chances that a temperature gives."""
    if not how.temperature:
        return lambda logits: logits.argmax(-1)
    generator = torch.Generator().manual_seed(how.seed)

    def drawn(logits: Tensor) -> Tensor:
        chances = (logits.cpu().double() / how.temperature).softmax(-1)
        return torch.multinomial(chances, 1, generator=generator)[:, 0].to(logits.device)

    return drawn
