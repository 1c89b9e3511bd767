"""Statistics of attention, gradients and logits in chunks: equal to one plain forward pass that keeps everything."""

import pytest
import torch

pytest.importorskip("transformers")

from tenfold.evals.distance_sums import by_distance
from tenfold.features.probe import chunked_model
from tenfold.features.probe.attention_findings import findings
from tenfold.features.probe.attention_sums import AttentionSums, attention_sums
from tenfold.features.probe.chunked_model import ChunkedModel
from tenfold.features.probe.gradient_sums import GradientSums, gradient_sums

LENGTH = 32
FAMILIES = ["gpt2", "gpt_neox", "llama", "mistral", "bloom", "swapped"]


@pytest.fixture
def reader(lively, monkeypatch, request):
    """A model that is read in chunks of sizes that divide nothing."""
    made = ChunkedModel(lively(request.param))
    monkeypatch.setattr("tenfold.features.probe.attention_sums.CHUNK", 7)
    monkeypatch.setattr("tenfold.features.probe.gradient_sums.CHUNK", 7)
    monkeypatch.setattr(chunked_model.ChunkedModel, "weighed_chunk", lambda *_: 3)
    monkeypatch.setattr(chunked_model.ChunkedModel, "graph_chunk", lambda *_: 5)
    return made


def plainly(reader, rows):
    """All attention weights and their gradients, and those of the inputs of layers, in one pass without a cache."""
    model = reader.model
    if model.config._attn_implementation != "tenfold":
        model.set_attn_implementation("eager")
    embedded = model.get_input_embeddings()(rows).detach().requires_grad_()
    out = model(inputs_embeds=embedded, output_attentions=True, output_hidden_states=True, use_cache=False)  # fmt: skip
    hidden = out.hidden_states[: len(out.attentions)]
    top = out.logits[:, -1].amax(-1).sum()
    grads = torch.autograd.grad(top, [*out.attentions, *hidden])
    return out, grads[: len(out.attentions)], grads[len(out.attentions) :]


def summed(amounts, first):
    """By distance, pair by pair: (B, H, S, S) -> (H, S)."""
    sums = torch.zeros(amounts.shape[1], LENGTH, dtype=torch.float64)
    for query in range(first, LENGTH):
        for key in range(query + 1):
            sums[:, query - key] += amounts[:, :, query, key].sum(0)
    return sums


@pytest.mark.parametrize("reader", FAMILIES, indirect=True)
def test_chunks_equal_one_pass_that_keeps_all(reader, tokens):
    rows = tokens(2, LENGTH)
    assert reader.chunks
    sums, moved = attention_sums(reader, rows), gradient_sums(reader, rows)
    in_chunks = torch.cat(list(reader.logits(rows, 5)), 1)

    out, by_weight, by_input = plainly(reader, rows)
    torch.testing.assert_close(in_chunks, out.logits, atol=1e-6, rtol=1e-6)
    late = LENGTH - LENGTH // 8
    assert sums.queries == 2 * (LENGTH - late)
    for layer, weights in enumerate(out.attentions):
        seen = weights.detach()
        torch.testing.assert_close(sums.weights[layer], summed(seen, late), atol=1e-5, rtol=1e-5)
        of_first = seen[:, :, late:, 0].sum((0, 2))
        torch.testing.assert_close(sums.first[layer], of_first, atol=1e-5, rtol=1e-5)
        only_first = seen.clone()
        only_first[..., 4:] = 0
        torch.testing.assert_close(sums.sinks[layer], summed(only_first, late), atol=1e-5, rtol=1e-5)  # fmt: skip
        flow = summed((seen * by_weight[layer]).abs(), 0)
        torch.testing.assert_close(moved.heads[layer] / flow.max(), flow / flow.max(), atol=1e-5, rtol=1e-4)  # fmt: skip
        sizes = by_input[layer].norm(dim=-1).sum(0).flip(0)
        torch.testing.assert_close(moved.inputs[layer] / sizes.max(), sizes / sizes.max(), atol=1e-5, rtol=1e-4)  # fmt: skip
    assert all(weight.requires_grad for weight in reader.model.parameters())


def test_by_distance_equals_a_loop(normal):
    amounts = normal(3, 4, 9).tril(5)  # the queries are the last 4 of 9 tokens
    expected = torch.zeros(3, 9, dtype=torch.float64)
    for query in range(4):
        for key in range(9):
            if key <= 5 + query:
                expected[:, 5 + query - key] += amounts[:, query, key]
    torch.testing.assert_close(by_distance(amounts), expected)


def test_a_model_without_attention_has_its_losses_read_whole():
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, state_size=4)
    reader = ChunkedModel(MambaForCausalLM(config))
    assert not reader.chunks
    assert reader.attention is None
    assert reader.parts(100, 7) == [slice(0, 100)]


def test_findings_of_known_sums():
    """One layer of two heads: one looks at itself, one at the first token of 16."""
    weights, sinks = torch.zeros(2, 1, 2, 16, dtype=torch.float64)
    weights[0, 0, 0] = 2.0
    weights[0, 1, 14:] = 1.0
    sinks[0, 1, 14:] = 1.0
    weights[0, 1, 1] = 0.02
    first = torch.tensor([[0.0, 2.0]], dtype=torch.float64)
    sums = AttentionSums(weights, sinks, first, torch.tensor(2.0))
    gradient = GradientSums(weights, torch.ones(1, 16, dtype=torch.float64))
    found = findings(sums, gradient, eps=0.05)
    assert found.fields.tolist() == [[1, 16]]
    assert found.fields_without_sinks.tolist() == [[1, 2]]
    assert found.gradient_fields.tolist() == [[1, 16]]
    assert found.whole_field == 16
    assert found.local_heads == 1.0  # without sinks, both look at most an eighth of 16 tokens far
    assert found.sink_heads == 0.5
    assert found.edges == [0, 1, 2, 4, 8, 16]
    assert found.mass.sum(-1).tolist() == [[1.0, 1.0]]
    assert found.as_json()["share_on_first_token"][0][1] == pytest.approx(2 / 2.02, abs=1e-6)
