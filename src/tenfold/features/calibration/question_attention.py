"""Attention to the question while each answer digit is written: to the digit's own column, or elsewhere.

Shapes: B batch, L layers, H heads, T answer tokens, S tokens of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import IGNORED, Batch
from tenfold.data.places import Places, distance
from tenfold.features.calibration.calibration import Calibration
from tenfold.features.calibration.mean_attention import NAMES, answered, biases
from tenfold.features.calibration.shared_lines import InCommon, in_common
from tenfold.models import Model, attention_in
from tenfold.models.model import trace
from tenfold.runs.run import Run, Which


@dataclass(frozen=True)
class Looks:
    """Attention to the question at answer digits, of all layers and heads. A key **leads** if it has the most attention.

    Only digits whose column exists in some operand are graded: all three of 12+345 = 357, but not the end. The tens
    (column 1) depend on `1` and `4`, 0 columns back, and on a carry from `2` and `5`, 1 column back.
    """

    weights: Tensor  # (B, L, H, T, S)
    back: Tensor  # (B, T, S): number of columns by which a digit is below the answer digit
    digits: Tensor  # (B, T, S) bool: keys that are digits with a column, seen from an answer digit
    graded: Tensor  # (B, T) bool
    q_at: Places  # places of the answer's tokens
    at: Places  # places of the question's tokens

    def own(self, backs: Sequence[int] = (0,)) -> Tensor:
        """(B, T, S): whether a key is one of these numbers of columns back."""
        near = [self.back == offset for offset in backs]
        return torch.stack(near).any(0) & self.digits

    @cached_property
    def leads(self) -> Tensor:
        """(B, L, H, T): the index of the key with the most attention."""
        return self.weights.argmax(-1)

    @cached_property
    def led(self) -> Tensor:
        """(digits, L, H) bool: whether a digit's own column leads a head."""
        own = self.own()[:, None, None].expand_as(self.weights)
        on = own.gather(-1, self.leads.unsqueeze(-1)).squeeze(-1)  # (B, L, H, T)
        return on.permute(0, 3, 1, 2)[self.graded]

    @property
    def some_head(self) -> float:
        """The share of digits whose own column leads some head."""
        return float(self.led.flatten(1).any(1).double().mean())

    @property
    def each_head(self) -> Tensor:
        """(L, H): the share of digits whose own column leads that head."""
        return self.led.double().mean(0)

    @property
    def some_head_by_chance(self) -> float:
        """The expected value of `some_head` if the leads of each head were shuffled among the digits.

        Heads are shuffled independently: 1 minus the product over heads of the share of leads outside the column.
        """
        b, _, _, t, s = self.weights.shape
        leads = self.leads.flatten(1, 2).unsqueeze(-2).expand(-1, -1, t, -1)  # (B, LH, T, T)
        own = self.own().unsqueeze(1).expand(b, leads.shape[1], t, s)
        hits = own.gather(-1, leads).double()  # of digit t, by the lead at digit u
        count = self.graded[:, None, None, :].double()
        share = (hits * count).sum(-1) / count.sum(-1).clamp(min=1)  # (B, LH, T)
        return float((1 - (1 - share).prod(1))[self.graded].mean())

    def where(self, other: Looks) -> Tensor:
        """(L, H): the share of digits whose leading key has the index that is most frequent in `other` at this answer token.

        A head that depends on absolute places leads at the same indices in a longer question, where other columns are.
        """
        count = min(self.leads.shape[-1], other.leads.shape[-1])
        usual = other.leads[..., :count].mode(0).values  # (L, H, T)
        same = (self.leads[..., :count] == usual).permute(0, 3, 1, 2)
        known = self.graded[:, :count] & other.graded.any(0)[:count]
        return same[known].double().mean(0)

    def weight(self, backs: Sequence[int] = (0,)) -> float:
        """The share of attention on keys at these numbers of columns back, averaged over heads and digits."""
        near = (self.weights * self.own(backs)[:, None, None]).sum(-1).mean((1, 2))  # (B, T)
        return float(near[self.graded].double().mean())

    def even_weight(self, backs: Sequence[int] = (0,)) -> float:
        """The same for a head with equal attention to all tokens of the question."""
        count = (self.at["index"] >= 0).sum(-1)[:, None].double()  # (B|1, 1)
        return float((self.own(backs).sum(-1) / count)[self.graded].mean())

    def mean(self, layer: int, head: int) -> Tensor:
        """(T, S): the mean attention of one head over problems with the same layout. Layer and head count from 1."""
        return self.weights[:, layer - 1, head - 1].mean(0)


@torch.inference_mode()
def looks(model: Model, batch: Batch, *, upto: Tensor | None = None, own: bool = True) -> Looks:
    """Measure attention while the model answers these problems, after its own digits or the true digits so far.

    Digits from column `upto` (B,) on are not graded, because the operands have only padding zeros there.
    """
    model = attention_in(model, "where heads look")
    if not model.stack.causal:
        raise TenfoldError(
            f'a model of the kind "{model.name}" reads its answer in place; this measurement needs one that writes '
            "it token by token: seq2seq or decoder"
        )
    batch = answered(model, batch) if own else batch
    question, read = batch.source, batch.read
    name = NAMES["causal" if question is None else "cross"]
    question = batch.sequence if question is None else question
    width = batch.given if question is batch.sequence else question.tokens.shape[1]
    names = [f"stack.blocks.{layer}.{name}.weights" for layer, _ in enumerate(model.stack.blocks)]
    with trace(model, *names) as seen:
        model(batch)
    weights = torch.stack([seen[each][0][:, :, -read:, :width] for each in names], 1)
    q_at, at = batch.sequence.places.last(read), question.places.slice(0, width)
    back, related = distance(q_at["column"], at["column"])
    shape = (len(batch), read, width)
    digits = (related & (at["significance"] >= 0).unsqueeze(-2)).expand(shape)
    back = back.expand(shape)
    graded = (batch.target != IGNORED) & (digits & (back == 0)).any(-1)
    if upto is not None:
        graded = graded & (q_at["column"] < upto[:, None])
    if not graded.any():
        raise TenfoldError("no digit of these answers has a column in the question")
    return Looks(weights, back, digits, graded, q_at, at)


PROBLEMS = 256
CHOOSING = 1  # the seed of the problems for choosing a head; measurements use other problems
NEAR = (0, 1)  # a digit's own column, and the column of its carry
Place = tuple[int, int]  # layer and head, from 1


def looks_of(
    run: Run,
    length: int,
    n: int = PROBLEMS,
    *,
    seed: int = 0,
    own: bool = True,
    which: Which = "best",
) -> Looks:
    """Measure a run while it answers n problems of a length. If `own` is false, it gets the true digits so far."""
    torch.set_num_threads(run.recipe.train.threads)
    ((_, _, problems),) = run.built.examiner(seed).questions([length], ["uniform"], n)
    upto = torch.from_numpy(problems.longest)
    return looks(run.model(which).cpu(), run.built.batcher(problems), upto=upto, own=own)


def leading_head(run: Run, n: int = PROBLEMS) -> Place:
    """The head in which a digit's own column leads most often, at the training length."""
    shares = looks_of(run, run.recipe.data.length, n, seed=CHOOSING).each_head
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return int(layer) + 1, int(head) + 1


def shares(measured: Looks, trained: Looks, place: Place) -> dict[str, float]:
    """Shares of attention on the correct columns, and their values by chance. `trained` is at the training length.

    `attention-on-column`: digits whose own column leads some head; `one-head-on-column`: the head that was chosen before.
    `one-head-where-trained`: digits at which that head leads at the same index as in training, whatever token is there.
    `weight-on-columns`: attention on the own column and the one before, averaged over heads; by chance, even attention.
    """
    layer, head = place
    return {
        "attention-on-column": measured.some_head,
        "attention-on-column-by-chance": measured.some_head_by_chance,
        "one-head-on-column": float(measured.each_head[layer - 1, head - 1]),
        "one-head-by-chance": measured.even_weight(),
        "one-head-where-trained": float(measured.where(trained)[layer - 1, head - 1]),
        "weight-on-columns": measured.weight(NEAR),
        "weight-by-chance": measured.even_weight(NEAR),
    }


def compared(calibration: Calibration, learned: Run, n: int = PROBLEMS) -> InCommon:
    """Compare a calibration's lines with the biases that another run learned end to end, at its training length."""
    ((_, _, problems),) = learned.built.examiner().questions(
        [learned.recipe.data.length], ["uniform"], n
    )
    model = attention_in(learned.model(), "a comparison of lines").cpu()
    return in_common(calibration, biases(model, [learned.built.batcher(problems)]))
