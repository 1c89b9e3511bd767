"""Everything that the registries find, small and with enough room for the longest test."""

import functools

import pytest

from tenfold.core.registry import Spec
from tenfold.data.batch import LAYOUTS
from tenfold.data.schemes import SCHEMES
from tenfold.data.tasks import TASKS
from tenfold.encodings import ENCODINGS, SIZES
from tenfold.models import MODELS

ROOM = 400  # places, enough for the longest input of any law


def examples(room):
    """Every encoding with the options it names as worth trying: `t5`, `t5-1`, ..."""
    for name in ENCODINGS.names():
        for number, options in enumerate(ENCODINGS[name].examples(room)):
            yield f"{name}-{number}" if number else name, {"name": name, **options}


@functools.cache
def layouts_of(identity):
    factory = ENCODINGS.factory(Spec.model_validate(dict(examples(ROOM))[identity]), SIZES)
    return factory(width=16, heads=2, head_size=8).layouts


def pytest_generate_tests(metafunc):
    """Parametrise a law by encodings, by models, or by every declared pair of the two.

    A law that is marked `refused` gets the pairs that are not declared. To an encoding, all models of one
    layout are alike, so one model of each layout is enough. A law that is marked `in_one_layout` gets each
    encoding in one layout, these in turn; one that is marked `without_options` gets each name once a layout.
    """
    names, encodings = set(metafunc.fixturenames), dict(examples(ROOM))
    models = getattr(metafunc.function, "models", MODELS.names())
    refused = getattr(metafunc.function, "refused", False)
    if {"model_name", "encoding"} <= names:
        of_layout = {MODELS[model].layout: model for model in sorted(models, reverse=True)}
        quick = getattr(metafunc.function, "quick", ENCODINGS.names())
        declared = [
            (model, identity)
            for model in of_layout.values()
            for identity in encodings
            if (MODELS[model].layout in layouts_of(identity)) is not refused
        ]
        if getattr(metafunc.function, "in_one_layout", False):
            models_of = {name: [m for m, other in declared if other == name] for name in encodings}
            declared = [
                (some[number % len(some)], name)
                for number, (name, some) in enumerate(models_of.items())
                if some
            ]
        if getattr(metafunc.function, "without_options", False):
            firsts = {(model, encodings[name]["name"]): name for model, name in reversed(declared)}
            declared = [(model, name) for (model, _), name in firsts.items()]
        pairs = {
            f"{model}-{identity}": pytest.param(
                model,
                encodings[identity],
                marks=[] if encodings[identity]["name"] in quick else [pytest.mark.full],
            )
            for model, identity in declared
        }
        metafunc.parametrize(("model_name", "encoding"), pairs.values(), ids=pairs)
    elif "model_name" in names:
        metafunc.parametrize("model_name", models)
    elif "encoding" in names:
        metafunc.parametrize("encoding", encodings.values(), ids=encodings)


@pytest.fixture(params=SCHEMES.names())
def scheme(request):
    return request.param


VARIANTS = {"parity-final": {"name": "parity", "final": True}}  # other answers than usual


@pytest.fixture(params=[*TASKS.names(), *VARIANTS])
def any_task(request):
    return TASKS.build(VARIANTS.get(request.param, request.param))


@pytest.fixture(params=sorted(LAYOUTS))
def layout(request):
    return request.param
