"""Tagging the words of a sentence with the phrases they stand in: a task with local dependencies that is no arithmetic.

    d a c a n v d n      determiner, adjective, conjunction, adjective, noun, verb, determiner, noun
    B I I I E O B E      begin, inside, end of a phrase; outside of any

A phrase ends in its noun, so tags are decided from the last word on: the word and the tag to its right decide. A run of
adjectives is inside a phrase if a noun stands at its right end, however long it is (`aaan` -> `IIIE`), and outside if
not (`aaav` -> `OOOO`): what carries are to a sum. The last word is column 0, as the units are of a number.

Shapes: N sentences, W words, Q tags.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.samplers import Drawn, exact, powers
from tenfold.data.tasks.sequence import SequenceTask
from tenfold.data.tasks.task import Digits, Examples, Ints, Sampler, shortened
from tenfold.data.tasks.transducer import END, Transducer

WORDS = "cnadv"  # by their number; numbers have no leading zeros: no sentence begins with `c`
TAGS = "BIEO"
OUTSIDE = TAGS.index("O")

# By word: its tag where the word to its right begins, is inside, ends or is outside of a phrase.
RULES = {
    "c": "OIOO",  # it joins what is inside a phrase (`aca`), not two phrases (`ncn`)
    "n": "EIIE",  # a noun before a noun belongs to that one's phrase
    "a": "OIIO",
    "d": "OBBO",
    "v": "OOOO",
}
NEXT: NDArray[np.uint8] = np.array(
    [[TAGS.index(tag) for tag in RULES[word]] for word in WORDS], dtype=np.uint8
)  # (words, Q)


class Tagging(SequenceTask):
    """`Tagging().parse("dacanvdn")`; the answer has a tag for each word.

    >>> task = Tagging()
    >>> for text in ("dacanvdn", "aaan", "aaav", "ncn"):
    ...     print(text, task.truth(task.parse(text), 0))
    dacanvdn BIIIEOBE
    aaan IIIE
    aaav OOOO
    ncn EOE
    """

    name = "tagging"
    operator = "T"

    def __init__(self) -> None:
        super().__init__(WORDS, outputs=TAGS)

    @property
    def counted(self) -> str:
        return "words of the sentence"

    def fit(self, rng: np.random.Generator, operands: Digits, lengths: Ints) -> Drawn:
        """Words are drawn as digits are: uniformly, but for the first one."""
        return operands, lengths

    def solve(self, operands: Digits, lengths: Ints) -> Examples:
        inside = np.arange(operands.shape[-1]) < lengths
        tokens = self.vocabulary.ids(TAGS).astype(np.uint8)
        answer = np.where(inside, tokens[tags(operands[:, 0])], 0).astype(np.uint8)
        return Examples(operands, lengths, answer, lengths[:, 0].copy(), beyond="last")

    def transducer(self) -> Transducer:
        """The state is the tag to the right."""
        tokens = self.vocabulary.ids(TAGS).tolist()

        def column(tag: int, words: tuple[int | None, ...]) -> tuple[int, int]:
            if words[0] is None:
                return END, tag
            tag = int(NEXT[words[0], tag])
            return tokens[tag], tag

        return Transducer.of(self.base, 1, len(TAGS), column, start=OUTSIDE)

    def parse(self, text: str) -> Examples:
        examples = super().parse(text)
        words = self.question(examples, 0)
        if len(words) > 1 and words[0] == WORDS[0]:
            raise TenfoldError(
                f'"{shortened(text)}" begins with a conjunction, {WORDS[0]}, as no sentence does; put a word before it'
            )
        return examples

    def hard(self, length: int) -> dict[str, dict[str, Sampler]]:
        """A run of 1, 2, 4, ... adjectives, and of all words but one, that follows a noun's tag, or none."""
        sizes = {name: size for name, size in powers(length).items() if size < length}
        if length > 1:
            sizes["cascade-all"] = length - 1
        return {
            "cascades": {
                name: functools.partial(run_of_adjectives, run=size) for name, size in sizes.items()
            }
        }


def tags(words: Digits) -> NDArray[np.uint8]:
    """The tag of every word, last word first: (N, W) -> (N, W).

    Each word maps the tag to its right to its own. Maps are composed over 2, 4, 8, ... words: a million words are
    twenty array operations.

    >>> "".join(TAGS[tag] for tag in tags(np.array([[1, 2, 0, 2, 3]], dtype=np.uint8))[0])  # dacan
    'EIIIB'
    """
    maps = NEXT[words]  # (N, W, Q)
    reach = 1
    while reach < maps.shape[1]:
        after, before = maps[:, reach:], maps[:, :-reach]
        joined = np.take_along_axis(after, before.astype(np.intp), -1)
        maps = np.concatenate([maps[:, :reach], joined], 1)
        reach *= 2
    return maps[..., OUTSIDE]  # what stands right of the last word


def run_of_adjectives(
    rng: np.random.Generator, n: int, length: int, terms: int, base: int, *, run: int
) -> Drawn:
    """Sentences of `length` words with so many adjectives, fewer than all, left of a noun or of a verb: half each.

    The run is anywhere; its left neighbour, if there is one, is no adjective.
    """
    words, lengths = exact(rng, n, length, terms, base)
    noun, adjective, verb = (WORDS.index(word) for word in "nav")
    start = rng.integers(0, length - run, (n, 1, 1))  # of what stands right of the run
    column = np.arange(length)
    other = np.array([word for word in range(1, base) if word != adjective], dtype=np.uint8)
    decides = rng.choice(np.array([noun, verb], dtype=np.uint8), (n, 1, 1))
    words = np.where(column == start, decides, words)
    words = np.where((column > start) & (column <= start + run), np.uint8(adjective), words)
    left = other[rng.integers(0, len(other), (n, 1, 1))]
    return np.where(column == start + run + 1, left, words), lengths
