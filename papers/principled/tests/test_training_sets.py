"""At the paper's scale training sets are drawn once: 90,000 sums, 450,000 products."""

import pytest

from tenfold.runs.build import build
from tenfold.runs.recipe_files import recipe


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("addition-absolute", 90_000),
        ("addition-absolute-mini", 90_000),
        ("modular-101-absolute", 90_000),
        ("modular-product-101", 450_000),
        ("multiplication-absolute", 450_000),
        ("two-steps", 450_000),
        ("two-operations", 450_000),
    ],
)
def test_a_fixed_training_set(name, count):
    """With 30 problems in their place, hundreds of samples are no more than 30 different ones, or 30 of each operation."""
    data = recipe(f"principled/{name}", "paper").as_json()["data"]
    assert (data["sampler"]["name"], data["sampler"]["count"]) == ("finite", count)
    fewer = {"sampler": {**data["sampler"], "count": 30}}
    built = build(recipe(f"principled/{name}", "paper", data=fewer, train={"batch": 64}))
    asked = {
        tuple(row) for k in range(5) for row in built.batch_at(k).sequence.tokens.tolist()
    }  # with the answer
    assert 5 <= len(asked) <= 30 * (2 if name == "two-operations" else 1)
    assert recipe(f"principled/{name}").as_json()["data"]["sampler"] != data["sampler"]
