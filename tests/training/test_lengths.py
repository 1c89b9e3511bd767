import numpy as np

from tenfold.core.registry import Spec
from tenfold.training.options import LENGTHS


def drawn(name, **options):
    draw, rng = LENGTHS.bind(Spec(name=name, options=options)), np.random.default_rng(0)
    return {draw(rng, 7) for _ in range(300)}


def test_lengths():
    assert drawn("longest") == {7}
    assert drawn("bucketed") == {1, 2, 3, 4, 5, 6, 7}
    assert drawn("bucketed", shortest=5) == {5, 6, 7}
