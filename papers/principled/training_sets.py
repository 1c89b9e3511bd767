"""Training sets as large as the paper's: drawn once, nine tenths of 100,000 sums and of 500,000 products."""

import dataclasses

from tenfold.runs.recipe_files import merge

SUMS, PRODUCTS = 90_000, 450_000


def drawn_once(recipes, count):
    """The same recipes; at the paper's scale each trains on so many problems of its own sampler."""
    return {name: _drawn_once(each, count) for name, each in recipes.items()}


def _drawn_once(recipe, count):
    inner = recipe.at("paper")["data"]["sampler"]
    sampler = {"name": "finite", "count": count, "inner": inner}
    paper = merge(recipe.scales["paper"], {"data": {"sampler": sampler}})
    return dataclasses.replace(recipe, scales={**recipe.scales, "paper": paper})
