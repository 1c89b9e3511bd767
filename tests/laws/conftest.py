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
    layout are alike, so one model of each layout is enough.
    """
    names, encodings = set(metafunc.fixturenames), dict(examples(ROOM))
    models = getattr(metafunc.function, "models", MODELS.names())
    refused = getattr(metafunc.function, "refused", False)
    if {"model_name", "encoding"} <= names:
        of_layout = {MODELS[model].layout: model for model in sorted(models, reverse=True)}
        quick = getattr(metafunc.function, "quick", ENCODINGS.names())
        pairs = {
            f"{model}-{identity}": pytest.param(
                model, encoding, marks=[] if encoding["name"] in quick else [pytest.mark.full]
            )
            for model in of_layout.values()
            for identity, encoding in encodings.items()
            if (MODELS[model].layout in layouts_of(identity)) is not refused
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
