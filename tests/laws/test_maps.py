"""What every encoding shows of what it learned, in every model."""

import torch

from tenfold.features.maps.positional_maps import layers
from tenfold.models import MODELS


def test_whatever_learns_has_something_to_show(
    model_name, encoding, make_model, make_batcher, ragged
):
    layout = MODELS[model_name].layout
    batch = make_batcher(layout, **({"frame": 6} if layout == "in_place" else {}))(ragged)
    model = make_model(model_name, encoding)
    result = layers(model, batch)
    assert result
    for layer in result:
        assert bool(layer.nothing) != bool(layer.maps)
        for each in layer.maps:
            shown = each.occurring
            assert len(shown.places)
            assert len(shown.names) == len(shown.values) == len(shown.places)
            assert torch.isfinite(shown.values).all()
            assert len(each.strongest(3)) == min(3, len(shown.places))
    learns = any(True for _ in model.stack.encodings.parameters())
    assert learns == any(not each.fixed for layer in result for each in layer.maps)
