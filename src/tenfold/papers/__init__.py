"""The papers: one package each, with recipes, experiments, claims and code that only this paper needs.

In a source checkout the packages stand in `papers/` beside `src/`; a wheel has them in this folder. Nothing in tenfold
imports a paper by its name: recipes and experiments are discovered by walking this package.
"""

from pathlib import Path

_source = Path(__file__).resolve().parents[2]
if _source.name == "src" and (_source.parent / "papers").is_dir():
    __path__.append(str(_source.parent / "papers"))
