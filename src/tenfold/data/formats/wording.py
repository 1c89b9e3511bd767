"""Sentences that ask for a sum or a product, and the tokenizer that reads any sentence of their words.

`#` is a number. A word is a token, so is `?`, a number is one token a digit: `what is 12 plus 345?` is
`what`, `is`, `1`, `2`, `plus`, `3`, `4`, `5`, `?`. A word that no template has is refused.
"""

from __future__ import annotations

import functools
import re

from tenfold.core.errors import TenfoldError, unknown
from tenfold.data.tasks.task import Task, Vocabulary, Wording, shortened

TEMPLATES = {  # by operator; the multiplier comes first. The last few can be held out, and have no word of their own
    "+": (
        "what is # plus # ?",
        "# + #",
        "add # to #",
        "compute the sum of # and #",
        "what is the sum of # and # ?",
        "# plus # is how much ?",
        "how much is # and # together ?",
        "please add # and #",
        "what do you get if you add # to # ?",
        "i have # and get # more , how many do i have ?",
        "the total of # and # is",
        "find the total if # is added to #",
        "# increased by # is what number ?",
        "tell me what # plus # makes",
        "can you compute # plus # ?",
        "what number is # and # together ?",
        "please tell me the sum of # and #",
        "how many is # added to # ?",
    ),
    "*": (
        "what is # times # ?",
        "# * #",
        "multiply # with #",
        "compute the product of # and #",
        "what is the product of # and # ?",
        "# times # is how much ?",
        "how much is # multiplied by # ?",
        "please multiply # by #",
        "what do you get if you multiply # by # ?",
        "i have # boxes of # , how many do i have ?",
        "the product of # and # is",
        "find the total of # times #",
        "# copies of # is what number ?",
        "tell me what # times # makes",
        "can you compute # times # ?",
        "what number is # boxes of # ?",
        "please tell me the product of # and #",
        "how many is # multiplied by # ?",
    ),
}


@functools.cache
def phrases(operator: str) -> tuple[Wording, ...]:
    """The templates, with their words before, between and after the numbers.

    >>> phrases("+")[0]
    (('what', 'is'), ('plus',), ('?',))
    """
    if operator not in TEMPLATES:
        raise TenfoldError(
            f'there are no sentences for "{operator}"; there are for {" and ".join(TEMPLATES)}'
        )
    parts = [template.split("#") for template in TEMPLATES[operator]]
    return tuple(tuple(tuple(words.split()) for words in part) for part in parts)


def words_of(task: Task) -> list[str]:
    """Every word of the templates but the operator itself, which is a symbol already."""
    if task.base > 10:
        raise TenfoldError(
            f"sentences are written in base 2 to 10, where letters are no digits; not {task.base}"
        )
    words = {word for phrase in phrases(task.operator) for gap in phrase for word in gap}
    return sorted(words - {task.operator})


def understood(text: str, task: Task, vocabulary: Vocabulary) -> tuple[list[str], Wording]:
    """The numbers of a sentence and the words around them: `12`, `345` and (what is) (plus) (?)."""
    numbers: list[str] = []
    gaps: list[list[str]] = [[]]
    for token in re.findall(r"[0-9]+|[^\W\d_]+|\S", text.lower()):
        if token.isdecimal():
            numbers.append(token)
            gaps.append([])
        elif token in vocabulary.words or token == task.operator:
            gaps[-1].append(token)
        else:
            raise unknown("word", token, vocabulary.words)
    if len(numbers) != task.terms or not all(gaps[1:-1]):
        example = spoken(phrases(task.operator)[0], ["12", "345"])
        raise TenfoldError(
            f'"{shortened(text)}" has {len(numbers)} number(s); {task.terms} with a word between them are '
            f'wanted, as in "{example}"'
        )
    return numbers, tuple(map(tuple, gaps))


def spoken(wording: Wording, numbers: list[str]) -> str:
    """
    >>> spoken(phrases("+")[0], ["12", "345"])
    'what is 12 plus 345?'
    """
    pieces = [*wording[0]]
    for number, words in zip(numbers, wording[1:], strict=True):
        pieces += [number, *words]
    return re.sub(r" ([?,.])", r"\1", " ".join(pieces))
