"""Everything that the registries find, small and with enough room for the longest test."""

import pytest

from tenfold.batch import LAYOUTS
from tenfold.models import MODELS
from tenfold.pe import ENCODINGS
from tenfold.places import SCHEMES
from tenfold.tasks import TASKS

ROOM = {
    "learned": {"limit": 400},
    "pairwise": {"relation": {"name": "relative", "reach": 400}},
}


@pytest.fixture(params=ENCODINGS.names())
def encoding(request):
    """The options of one encoding, with room for every test's input."""
    return {"name": request.param, **ROOM.get(request.param, {})}


@pytest.fixture(params=MODELS.names())
def model_name(request):
    return request.param


@pytest.fixture(params=SCHEMES.names())
def scheme(request):
    return request.param


@pytest.fixture(params=TASKS.names())
def any_task(request):
    return TASKS.build(request.param)


@pytest.fixture(params=sorted(LAYOUTS))
def layout(request):
    return request.param
