"""A run as the page reads it: the task as a finite machine, the format, the encodings, the weights, the curve."""

from __future__ import annotations

import base64
import hashlib
import json

import numpy as np
import torch

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import read_json_mapping
from tenfold.data.batch import Batcher
from tenfold.data.formats import InPlace, Interleaved, Reversed
from tenfold.data.formats.numeric import Format
from tenfold.data.tasks.task import NumberTask, Task
from tenfold.features.explorer.encoding_export import EncodingExport, Exported
from tenfold.models import Decoder, Encoder, Seq2Seq
from tenfold.models.decoding import Swift
from tenfold.models.locality import NotCertifiable, locality
from tenfold.models.model import AttentionModel
from tenfold.models.stack import Stack
from tenfold.results.collect import checked_result
from tenfold.runs.run import Run, Which

KINDS: tuple[type[AttentionModel], ...] = (Decoder, Encoder, Seq2Seq)
CERTIFICATE = "certificate.json"
SAID = ("contexts", "columns", "margin", "bound", "verdict")
FAR = ("attention", "first", "remainder")  # of a proof without a window
POSED = "addition, subtraction, successor, comparison and parity"
MOST_WEIGHTS = 1_500_000  # numbers; 8 MB of text in a page
FORMATS: dict[type[Format], tuple[str, ...]] = {
    Reversed: ("width", "spare", "operands", "start"),
    Interleaved: ("width", "spare", "marked"),
    InPlace: ("frame", "spare"),
}


def exported(
    run: Run,
    which: Which = "best",
    name: str | None = None,
    measurement: Exported | None = None,
) -> Exported:
    """Everything that the page knows of a run. Raises one line where the page cannot run it.

    `measurement` has the rows and the origin of a model that was exported without its result.
    """
    recipe, built = run.recipe, run.built
    if not hasattr(built.source, "batcher"):
        raise TenfoldError(
            f"{run.folder} is a language model; the explorer poses problems in digits"
        )
    batcher = built.batcher
    for scheme in recipe.schemes:
        raise TenfoldError(
            f'{run.folder} uses the scheme "{scheme.name}"; the explorer runs models without schemes'
        )
    task, form = _task(batcher.task, batcher.format), _format(batcher.format)
    model = run.model(which)
    kind = next((kind for kind in KINDS if type(model) is kind), None)
    if kind is None or not isinstance(model, AttentionModel):
        known = ", ".join(sorted(kind.name for kind in KINDS))
        raise TenfoldError(
            f'the explorer cannot run a model of the kind "{model.name}"; it can run {known}'
        )
    return {
        "name": name or run.folder.resolve().name,
        "recipe": recipe.name,
        "about": recipe.about,
        "label": recipe.label,
        "trained": recipe.data.length,
        "kind": model.name,
        "task": task,
        "format": form,
        "vocabulary": _vocabulary(batcher),
        **_network(model),
        "local": _local(model, batcher),
        "curve": _curve(run, which, measurement),
        "certificate": _certificate(run, model),
        "made": _made(run, which, measurement),
        **_weights(model),
    }


def _task(task: Task, form: Format) -> Exported:
    machine = task.transducer()
    if machine is None or machine.hub is not None or not isinstance(task, NumberTask):
        why = (
            "is not one of digits" if not isinstance(task, NumberTask)
            else "has an operand that every column reads" if machine is not None
            else task.no_transducer
        )  # fmt: skip
        raise TenfoldError(
            f'the explorer cannot pose the task "{task.name}", which {why}; it can pose {POSED}'
        )
    one = task.sample(1, 3, np.random.default_rng(0))
    if task.terms > 2:
        raise TenfoldError(
            f'the explorer cannot pose the task "{task.name}" with {task.terms} numbers; one or two are right'
        )
    if getattr(form, "width", None) is not None and one.beyond_of(0) in ("last", "end"):
        raise TenfoldError(
            f'the explorer cannot write the task "{task.name}" padded to a width; a format without width is right'
        )
    return {
        "name": task.name,
        "base": task.base,
        "terms": task.terms,
        "operator": task.operator,
        "room": one.room,
        "states": machine.states,
        "tokens": machine.tokens,
        "start": int(machine.starts[0]),
        "output": machine.output.ravel().tolist(),
        "next": machine.next.ravel().tolist(),
    }


def _format(form: Format) -> Exported:
    names = FORMATS.get(type(form))
    if names is None or getattr(form, "vary", False):
        known = ", ".join(sorted(kind.name for kind in FORMATS))
        raise TenfoldError(
            f'the explorer cannot write the format "{form.name}"; it can write {known}, without frames that vary'
        )
    return {"name": form.name, "ends": form.ends(), **{n: getattr(form, n) for n in names}}


def _vocabulary(batcher: Batcher) -> Exported:
    words = batcher.vocabulary
    names = ("pad", "end", "start", "equals", "operator")
    return {"symbols": list(words.symbols), **{name: getattr(words, name) for name in names}}


def _network(model: AttentionModel) -> Exported:
    export, reader = EncodingExport(model), model.reader()
    return {
        "stack": _stack("stack", model.stack, export),
        "encoder": None if reader is None else _stack("encoder", reader, export),
    }


def _stack(name: str, stack: Stack, export: EncodingExport) -> Exported:
    layers = len(stack.blocks)
    for mixer in stack.mixers():
        if not mixer.attends:
            raise TenfoldError(
                f'the explorer cannot run the mixer "{mixer.name}"; it can run attention'
            )
    cross = stack.cross_encodings
    blocks = [block for block in stack.blocks if hasattr(block, "pre")]
    return {
        "name": name,
        "causal": stack.causal,
        "layers": layers,
        "width": stack.embedding.embedding_dim,
        "heads": next((getattr(mixer, "heads", 1) for mixer in stack.mixers()), 1),
        "pre": all(bool(block.pre) for block in blocks) and isinstance(stack.norm, torch.nn.LayerNorm),
        "encodings": [export.describe(stack.encodings[n]) for n in range(max(layers, 1))],
        "cross": None if cross is None else [export.describe(cross[n]) for n in range(layers)],
    }  # fmt: skip


def _local(model: AttentionModel, batcher: Batcher) -> Exported:
    """How far each digit looks, declared and tested; or why that has no bound."""
    local = Swift(model, batcher).local
    if local is not None and not local.hubs:
        return {"columns": local.columns, "answers": local.answers, "start": local.start}
    try:
        locality(model)
        reason = "a digit may depend on the whole input"
    except NotCertifiable as error:
        reason = str(error)
    return {"columns": None, "reason": reason}


def _curve(run: Run, which: Which, measurement: Exported | None) -> list[Exported]:
    """Exact match by length on uniform problems, with n and the interval, as the run itself measured it."""
    if measurement is not None:
        rows = measurement["rows"]
    else:
        rows = checked_result(run)["rows"] if run.finished else []
    chosen = [
        row
        for row in rows
        if row.get("slice") == "uniform"
        and row.get("metric") == "exact"
        and row.get("checkpoint", which) == which
    ]
    keys = ("length", "value", "n", "low", "high")
    return sorted(
        ({key: row[key] for key in keys} for row in chosen), key=lambda row: row["length"]
    )


def _certificate(run: Run, model: AttentionModel) -> Exported | None:
    """What the certificate in the run's folder says; None without one, or if it is about other weights."""
    try:
        stored = read_json_mapping(run.folder, CERTIFICATE, "a certificate")
    except FileNotFoundError:
        return None
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
    if stored.get("weights") != digest.hexdigest():
        return None
    said = {key: stored.get(key) for key in SAID}
    return {**said, "proved": bool(stored.get("proved")), "far": _far(stored.get("far"))}


def _far(stored: object) -> Exported | None:
    """What a certificate without a window says of far tokens; None where it does not say it in numbers."""
    if not isinstance(stored, dict):
        return None
    values = {name: stored.get(name) for name in FAR}
    return values if all(isinstance(value, float | int) for value in values.values()) else None


def _made(run: Run, which: Which, measurement: Exported | None) -> Exported:
    """How the run was made: its recipe's fingerprint, seed, steps, commit."""
    known = run.environment() if measurement is None else measurement["made"]
    return {
        "fingerprint": run.recipe.fingerprint,
        "seed": run.recipe.seed,
        "steps": run.recipe.train.steps,
        "checkpoint": which,
        "commit": known.get("commit"),
        "date": known.get("date"),
        "command": known.get("command"),
        "torch": known.get("torch"),
    }


def _weights(model: AttentionModel) -> Exported:
    tensors = model.state_dict()
    count = sum(tensor.numel() for tensor in tensors.values())
    if count > MOST_WEIGHTS:
        raise TenfoldError(
            f"a model of {count:,} weights is too large for a page, which holds {MOST_WEIGHTS:,}"
        )
    places, parts, offset = {}, [], 0
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise TenfoldError(f"the weights {name} are not finite numbers; train the run again")
        numbers = tensor.detach().cpu().to(torch.float32).contiguous().numpy().astype("<f4")
        places[name] = [offset, *tensor.shape]
        parts.append(numbers.tobytes())
        offset += numbers.size
    return {
        "parameters": model.parameter_count(),
        "tensors": places,
        "weights": base64.b64encode(b"".join(parts)).decode(),
    }


def as_text(models: list[Exported]) -> str:
    """JSON for a script element: nothing in it can end the element."""
    text = json.dumps(models, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
