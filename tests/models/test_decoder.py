"""Decoding: when it stops."""

import torch

from tenfold.models import trace


def test_stops_when_every_row_has_ended(make_model, make_batcher, ragged, task):
    model, batch = make_model("decoder"), make_batcher("causal")(ragged)
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.zero_()[task.vocabulary.end] = 1.0
    with trace(model, "head") as seen:
        answer = model.answer(batch)
    assert len(seen["head"]) == 1
    assert (answer == task.vocabulary.end).all()


def test_goes_on_to_the_budget_where_it_never_ends(make_model, make_batcher, ragged):
    model, batch = make_model("decoder"), make_batcher("causal")(ragged)
    with torch.no_grad():
        model.head.weight.zero_()
        model.head.bias.zero_()[7] = 1.0
    answer = model.answer(batch)
    assert answer.shape == batch.target.shape
    here = torch.arange(batch.given - 1, batch.given - 1 + batch.read)
    there = batch.sequence.valid[:, here]
    assert (answer[there] == 7).all()
    assert (answer[~there] == model.end).all()  # beyond a row's own budget
    assert not there.all()
