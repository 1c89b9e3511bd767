import pytest
import torch

from tenfold.core.errors import TenfoldError
from tenfold.models import Decoder
from tenfold.runs.build import build


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "additoin"}, 'unknown task "additoin"; did you mean "addition"'),
        ({"task": {"name": "addition", "base": 99}}, "base 99; 2 to 16"),
        ({"format": "revrsed"}, 'unknown format "revrsed"; did you mean "reversed"'),
        ({"format": "in-place"}, 'format "in-place" cannot be laid out as "causal"'),
        ({"pe": "alibbi"}, 'unknown encoding "alibbi"; did you mean "alibi"'),
        ({"pe": {"name": "alibi", "axs": "index"}}, r'option of encoding "alibi" "axs"; did you mean "axis"'),
        ({"pe": {"name": "alibi", "axis": "shiftd"}}, 'reads the axis "shiftd", which nothing provides'),
        ({"schemes": []}, 'reads the axis "shifted", which nothing provides'),
        ({"schemes": ["shiftd"]}, 'unknown scheme "shiftd"'),
        ({"model": {"encoder_layers": 7}}, 'kind "decoder" has no encoder_layers'),
        ({"train": {"device": "meta"}}, 'device "meta" cannot be used here'),
        ({"train": {"device": "privateuseone"}}, 'device "privateuseone" cannot be used here'),
        ({"pe": {"name": "learned", "limit": -1}}, "limit is -1; input should be greater than 0"),
        ({"pe": {"name": "rotary", "base": 0}}, "base is 0; input should be greater than 0"),
        ({"schemes": [{"name": "cyclic", "period": 0}]}, "period is 0"),
        ({"schemes": [{"name": "shifted", "reach": -5}]}, "reach is -5"),
        ({"train": {"betas": [2, 3]}}, "betas.0 is 2"),
        ({"train": {"lr": float("inf")}}, "train.lr is inf"),
        ({"eval": {"lengths": []}}, "eval.lengths"),
        ({"data": {"lengths": {"name": "bucketed", "shortest": 99}}}, "shortest length is 99"),
        ({"data": {"sampler": {"name": "cascade", "cascade": 3}, "lengths": "bucketed"}}, "cascade of 3"),
        ({"cross_pe": "alibi"}, 'kind "decoder" has no cross_pe'),
        ({"model": {"kind": "decodr"}}, 'unknown model "decodr"; did you mean "decoder"'),
        ({"model": {"heads": 3}}, "width of 16 does not divide into 3 heads"),
        ({"data": {"sampler": "unifrom"}}, 'unknown sampler "unifrom"'),
        ({"data": {"sampler": "cascade"}}, 'sampler "cascade": cascade is missing'),
        ({"data": {"lengths": "buckted"}}, 'unknown length sampler "buckted"'),
        ({"eval": {"slices": ["nine"]}}, 'unknown slice "nine"; did you mean "nines"'),
        ({"format": {"name": "reversed", "width": 2}}, 'does not fit the format "reversed", which holds 2'),
        ({"eval": {"lengths": [100]}}, "learned positions end at 63"),
        ({"train": {"device": "cuda:77"}}, 'device "cuda:77" cannot be used here'),
    ],
)  # fmt: skip
def test_what_is_refused_before_anything_is_trained(recipe, changes, message):
    with pytest.raises(TenfoldError, match=message) as caught:
        build(recipe.replace(**changes))
    assert "\n" not in str(caught.value)


def test_models_are_a_function_of_the_seed(recipe):
    state = torch.random.get_rng_state()
    one, same, other = (build(recipe.replace(seed=seed)).model() for seed in (0, 0, 1))
    assert isinstance(one, Decoder)
    assert torch.equal(one.head.weight, same.head.weight)
    assert not torch.equal(one.head.weight, other.head.weight)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_batches_are_a_function_of_seed_and_number(recipe):
    def batch(number, seed=0):
        generator = torch.Generator().manual_seed(0)
        return build(recipe.replace(seed=seed)).batch_at(number, generator)

    one, same = batch(3), batch(3)
    assert torch.equal(one.sequence.tokens, same.sequence.tokens)
    assert torch.equal(one.sequence.places["shifted"], same.sequence.places["shifted"])
    for other in (batch(4), batch(3, seed=1)):
        assert one.target.tolist() != other.target.tolist()


@pytest.mark.parametrize("name", ["decoder", "seq2seq"])
def test_every_part_is_as_the_recipe_says(recipe, name):
    changes = {"model": {"kind": name, "layers": 2, "feedforward": 24}}
    if name == "seq2seq":
        changes["model"]["encoder_layers"] = 3
    model = build(recipe.replace(**changes)).model()
    assert len(model.stack.blocks) == 2
    assert model.stack.blocks[0].expand.out_features == 24
    if name == "seq2seq":
        assert len(model.encoder.blocks) == 3


def test_encodings_of_an_encoder_decoder(recipe):
    recipe = recipe.replace(model={"kind": "seq2seq"}, encoder_pe="rotary", cross_pe="alibi")
    model = build(recipe).model()
    kinds = (model.stack.encodings, model.encoder.encodings, model.stack.cross_encodings)
    assert [kind[0].name for kind in kinds] == ["learned", "rotary", "alibi"]
