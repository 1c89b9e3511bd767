"""The model card of a run: a README with metadata that the Hugging Face hub reads.

The metadata has every measurement in the format `model-index`, with its interval and its number of problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.runs.recipe import Recipe, written
from tenfold.runs.run import Which

Row = Mapping[str, Any]  # a measurement by the names of its columns

GIVEN = {  # by label: what a method was given beyond the text
    "generic": "nothing beyond the text",
    "significance": "which digits align",
    "window": "a window, placed by hand, outside of which it sees nothing",
    "calibrated": "lines that were found in the attention of a trained model",
    "scratchpad": "intermediate steps, which it writes before the answer",
    "loops": "the number of times that its layers are repeated",
}
METRICS = {"exact": "exact_match"}  # names that the hub knows
PAGES = "https://huggingface.co/docs/hub/model-cards"


def card_text(
    recipe: Recipe,
    rows: Sequence[Row],
    certificate: Row | None,
    *,
    name: str,
    which: Which = "best",
    licence: str | None = None,
) -> str:
    """The card as Markdown, with its metadata in front; `name` is the folder or the hub's name of the run."""
    data = metadata(recipe, rows, certificate, name, licence)
    sections = [
        f"# {name}",
        _what(recipe, which),
        "## What it was given",
        _given(recipe),
        "## Accuracy by length",
        _accuracy(rows),
        "## Proof",
        _theorem(recipe, certificate),
        "## How to load it",
        _use(name),
        "## How it was made",
        _made(recipe),
    ]
    return f"---\n{data}\n---\n\n" + "\n\n".join(sections) + "\n"


def metadata(
    recipe: Recipe, rows: Sequence[Row], certificate: Row | None, name: str, licence: str | None
) -> str:
    """The metadata of the card, as YAML."""
    try:
        from huggingface_hub import EvalResult, ModelCardData
    except ImportError:
        raise TenfoldError(
            "a model card needs huggingface_hub, which is not installed: pip install 'tenfold[hf]'"
        ) from None

    results = [
        EvalResult(
            task_type="text-generation",
            task_name=recipe.task.name,
            dataset_type=recipe.task.name,
            dataset_name=f"{recipe.task.name}, length {row['length']}, {row['slice']}",
            dataset_config=f"length-{row['length']}-{row['slice']}",
            dataset_args={"length": row["length"], "slice": row["slice"]},
            metric_type=METRICS.get(str(row["metric"]), str(row["metric"])),
            metric_name=row["metric"],
            metric_value=row["value"],
            metric_args=_interval(row),
        )
        for row in rows
    ]
    tags = ["tenfold", "length-generalization", recipe.task.name, recipe.pe.name, recipe.label]
    if certificate is not None and certificate["proved"]:
        tags.append("proved")
    card = ModelCardData(
        library_name="tenfold",
        license=licence,
        tags=list(dict.fromkeys(tags)),
        model_name=name,
        eval_results=results or None,
    )
    return card.to_yaml().strip()


def _named(recipe: Recipe, part: str) -> str:
    """A component of the recipe with its options: `pairwise (relation relative (reach 40))`."""
    return written(recipe.as_json()[part])


def _interval(row: Row) -> dict[str, Any]:
    """How many problems were measured, and the 95% interval where there is one."""
    known = {"n": row["n"], "low": row.get("low"), "high": row.get("high"), "level": 0.95}
    return known if row.get("low") is not None else {"n": row["n"]}


def _what(recipe: Recipe, which: Which) -> str:
    about = f" {recipe.about.rstrip('.')}." if recipe.about else ""
    return (
        f"A model of tenfold for the task `{_named(recipe, 'task')}`, trained by the "
        f"recipe `{recipe.name}`.{about} The weights are those of the {which} checkpoint."
    )


def _given(recipe: Recipe) -> str:
    given = GIVEN.get(recipe.label, "what its label says")
    schemes = ", ".join(f"`{written(each)}`" for each in recipe.as_json()["schemes"]) or "none"
    return (
        f"Its label is `{recipe.label}`: it was given {given}. Compare accuracies only within one label.\n\n"
        f"- positional encoding: `{_named(recipe, 'pe')}`\n"
        f"- how places are counted (schemes): {schemes}\n"
        f"- how problems are written (format): `{_named(recipe, 'format')}`\n"
        f"- lengths in training: up to {recipe.data.length}"
    )


def _accuracy(rows: Sequence[Row]) -> str:
    if not rows:
        return "No measurements come with this model."
    lines = [
        "| length | slice | metric | value | 95% interval | problems |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        interval = "-"
        if row.get("low") is not None:
            interval = f"{row['low']:.4f} to {row['high']:.4f}"
        lines.append(
            f"| {row['length']} | {row['slice']} | {row['metric']} | {row['value']:.4f} | {interval} | {row['n']} |"
        )
    return "\n".join(lines)


def _theorem(recipe: Recipe, certificate: Row | None) -> str:
    if certificate is None:
        return "This model has no certificate. Its accuracy beyond the lengths above is not known."
    contexts = f"{certificate['contexts']:,} local contexts"
    if certificate["wrong"]:
        return f"There is no proof: the model is wrong on {certificate['wrong']:,} of {contexts}."
    if not (certificate["proved"] or certificate["conditional"]):
        return f'There is no proof. The verdict of `tenfold certify` is "{certificate["verdict"]}".'
    extent = "including float32 rounding" if certificate["in_float32"] else "in exact arithmetic"
    doubt = ""
    if certificate["conditional"]:
        doubt = " This holds if what its own components declare is true."
    return (
        f"**Theorem.** This model answers every problem of the task `{_named(recipe, 'task')}` correctly, at every length, "
        f"{extent}.{doubt}\n\n"
        f"*Proof.* Every answer digit depends on {certificate['columns']} column"
        f"{'s' * (certificate['columns'] != 1)}, so on one of {contexts}. The model was run on all of them, and all "
        f"are right. The least margin of a right digit is {certificate['margin']:.4g}; rounding takes less from it. "
        "The statement, the hash of the weights and the bounds are in `certificate.json`. "
        "`tenfold certify` on the loaded folder proves it again."
    )


def _use(name: str) -> str:
    return (
        "```python\n"
        "import tenfold  # pip install 'tenfold[hf]'\n\n"
        f'run = tenfold.load("{name}")  # a folder or a name on the hub; hashes are checked\n'
        "print(run.examples(length=3, count=2))\n"
        "model = run.model()  # a torch module\n"
        "```\n\n"
        "All files are data: the weights are safetensors, everything else is JSON or YAML. Nothing of them is executed."
    )


def _made(recipe: Recipe) -> str:
    return (
        f"`recipe.yaml` has every setting; its fingerprint is `{recipe.fingerprint}`, its seed {recipe.seed}. "
        f"`tenfold train recipe.yaml` trains it again. This card was written by tenfold {__version__} ([format]({PAGES}))."
    )
