"""Losses in windows: equal to a plain loop over tokens, whatever the batch; and text as tokens."""

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from tenfold.core.errors import TenfoldError
from tenfold.evals.perplexity import OVERLAP
from tenfold.features.probe.chunked_model import ChunkedModel
from tenfold.features.probe.probe_text import named_texts, start_token, written
from tenfold.features.probe.window_losses import WAYS, assembled, row_losses, window_losses


def one_loss(model, before, token):
    """The loss of one token after all that it sees, in one forward pass."""
    with torch.inference_mode():
        logits = model(torch.from_numpy(before)[None], use_cache=False).logits[0, -1]
    return float(-logits.log_softmax(-1)[token])


def looped(model, passages, length, way):
    """Token by token: where the window begins that predicts it."""
    rows, width = len(passages), passages.shape[1] - 1
    losses = np.zeros((rows, width))
    for row in range(rows):
        for place in range(width):
            if way == "plain":
                start = place // length * length
            else:
                steps = max(0, -(-(place + 1 - length) // (length // OVERLAP)))
                start = min(steps * (length // OVERLAP), width - length)
            losses[row, place] = one_loss(
                model, passages[row, start : place + 1], passages[row, place + 1]
            )
    return losses


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("batch", [1, 3])
def test_windows_equal_a_plain_loop(lively, tokens, way, batch):
    model = lively("llama")
    passages = tokens(2, 22).numpy()
    windows = WAYS[way](2, 21, 8)
    found = window_losses(ChunkedModel(model), passages, windows, batch)
    whole = assembled(2, 21, windows, found)
    np.testing.assert_allclose(whole, looped(model, passages, 8, way), rtol=1e-6)


def test_a_start_token_stands_in_place_of_the_first(lively, tokens):
    reader, rows = ChunkedModel(lively("gpt2")), tokens(2, 9)
    changed = rows.clone()
    changed[:, 0] = 7
    np.testing.assert_array_equal(row_losses(reader, rows, 7), row_losses(reader, changed))


def test_half_precision_is_summed_in_single(lively, tokens):
    rows = tokens(2, 17)
    exact = row_losses(ChunkedModel(lively("llama")), rows)
    rough = row_losses(ChunkedModel(lively("llama").bfloat16()), rows)
    np.testing.assert_allclose(rough.mean(), exact.mean(), rtol=0.02)


def test_texts_as_tokens(words, tmp_path):
    assert written(words, ["w1 w2", "w3"], 10).tolist() == [1, 2, 3]
    assert written(words, ["w1 w2", "w3"], 2).tolist() == [1, 2]
    assert start_token(words) is None
    (tmp_path / "a.txt").write_text("w5 w6")
    (tmp_path / "b.txt").write_text("w7")
    assert list(named_texts(str(tmp_path / "a.txt"))) == ["w5 w6"]
    assert sorted(named_texts(str(tmp_path))) == ["w5 w6", "w7"]
    assert sorted(named_texts(str(tmp_path / "*.txt"))) == ["w5 w6", "w7"]
    assert next(named_texts("python-code"))
    with pytest.raises(TenfoldError, match='no file or folder "nothing", and no corpus'):
        named_texts("nothing")
