"""Probe a causal language model: what happens beyond its trained length, and how far it looks.

The page of `tenfold probe`: load, read the text, check that it fits, measure part by part, put the parts together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel

from tenfold.core.errors import TenfoldError
from tenfold.evals.perplexity import Reader
from tenfold.features.probe.chunked_model import ChunkedModel
from tenfold.features.probe.finished_parts import FinishedParts
from tenfold.features.probe.loaded_model import load_model, load_tokenizer
from tenfold.features.probe.probe_job import ProbeJob, Progress, Watching
from tenfold.features.probe.probe_memory import ProbeMemory
from tenfold.features.probe.probe_result import ProbeResult, VariantResult
from tenfold.features.probe.probe_text import named_texts, start_token, written
from tenfold.features.probe.rope_scalings import AS_IS, parse_scalings, scaled
from tenfold.features.probe.stated_encoding import stated_encoding, trained_length

USUAL = (512, 1024, 2048, 4096, 8192)  # lengths, where the training length gives no better ones
LEAST = 16384  # tokens that are predicted unless somebody says how many


def probe(
    model: PreTrainedModel | str | Path,
    tokenizer: Any = None,
    texts: str | Path | Iterable[str] = Path("python-code"),
    lengths: Sequence[int] | None = None,
    *,
    n: int | None = None,
    samples: int = 2,
    batch: int = 1,
    eps: float = 0.05,
    gradient: bool = True,
    rope: str | Sequence[str] = (),
    trained: int | None = None,
    dtype: str = "float32",
    device: str = "cpu",
    memory: float | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ProbeResult:
    """Measure a causal language model of transformers at several lengths: `probe(model, tokenizer, texts, [512, 1024])`.

    `model` and `tokenizer` are objects, or the name of a folder or of the hub. `texts` are a text or several; a `Path` is a
    file, a folder or the name of a corpus. `n` tokens are predicted at every length, and attention is measured on
    `samples` texts. `rope` names rotary scalings to compare: `["linear=4", "yarn=4"]`. With `out`, finished parts are
    stored there and a second call goes on after them.
    """
    _check(samples, batch, eps, n, trained)
    scalings = [each for text in ([rope] if isinstance(rope, str) else rope) if text for each in parse_scalings(text)]  # fmt: skip
    if isinstance(texts, Path):
        texts = named_texts(str(texts))
    named = str(model) if isinstance(model, str | Path) else None
    if isinstance(model, str | Path):
        model = load_model(str(model), dtype, device)
    if tokenizer is None and named is None:
        raise TenfoldError("a model that is an object needs its tokenizer: probe(model, tokenizer, texts)")  # fmt: skip
    if tokenizer is None or isinstance(tokenizer, str | Path):
        tokenizer = load_tokenizer(str(tokenizer or named))
    trained = trained or trained_length(model)
    encodings = [stated_encoding(model, trained, eps, each) for each in (None, *scalings)]
    lengths = _lengths(lengths, trained, encodings[0].limit)
    reader = ChunkedModel(model)
    ProbeMemory(reader, batch, gradient and samples > 0).check(lengths[-1], memory)
    passages = _passages(tokenizer, texts, n, lengths[-1], reader)
    job = ProbeJob(reader, passages, lengths, samples, batch, gradient, start_token(tokenizer))
    parts = FinishedParts(None if out is None else Path(out), job.identity(trained), fresh)
    labels = [AS_IS, *map(str, scalings)]
    planned = [part for label in labels for part in job.parts(label)]
    done = sum(part.cost for part in planned if parts.has(part.name))
    watch = Watching(progress, sum(part.cost for part in planned), done)
    variants = []
    for label, scaling, encoding in zip(labels, (None, *scalings), encodings, strict=True):
        with scaled(model, scaling, trained):
            made = {part.name: watch.make(parts, part) for part in job.parts(label)}
        variants.append(VariantResult(label, encoding, job.results(label, made, eps)))
    return ProbeResult(job.about(named), job.about_text(), trained, variants, job.notes())


def _check(samples: int, batch: int, eps: float, n: int | None, trained: int | None) -> None:
    if not 0 < eps < 1:
        raise TenfoldError(f"a share eps of {eps}; above 0 and below 1")
    for what, value, least in (
        ("samples", samples, 0), ("a batch", batch, 1), ("n", n, 1), ("a training length", trained, 1),
    ):  # fmt: skip
        if value is not None and value < least:
            raise TenfoldError(f"{what} of {value}; at least {least} is right")


def _lengths(asked: Sequence[int] | None, trained: int | None, limit: int | None) -> list[int]:
    """Ascending; if none are asked for, from a fourth of the training length to four times it.

    >>> _lengths(None, 128, None), _lengths(None, 1024, 1024), _lengths([8, 4, 8], None, None)
    ([32, 64, 128, 256, 512], [256, 512, 1024], [4, 8])
    """
    if asked is None:
        usual = USUAL if trained is None or trained > USUAL[-1] else [max(1, trained * k // 4) for k in (1, 2, 4, 8, 16)]  # fmt: skip
        asked = [each for each in usual if each <= min(limit or USUAL[-1], USUAL[-1])]
    lengths = sorted(set(asked))
    if not lengths or lengths[0] < 2:
        raise TenfoldError(
            f"a length of {lengths[0] if lengths else 0} tokens; at least 2 is right"
        )
    if limit is not None and lengths[-1] > limit:
        raise TenfoldError(f"a length of {lengths[-1]:,} tokens; this model has {limit:,} learned positions and can read no more")  # fmt: skip
    return lengths


def _passages(
    tokenizer: Any, texts: str | Iterable[str], n: int | None, longest: int, reader: ChunkedModel
) -> NDArray[np.int64]:  # fmt: skip
    """The passages that are read, twice the longest length each where the text has that."""
    n = max(LEAST, 2 * longest) if n is None else n
    if n < longest:
        raise TenfoldError(f"n is {n:,}, fewer tokens than the longest length of {longest:,}")
    tokens = written(tokenizer, [texts] if isinstance(texts, str) else texts, 4 * n + 1)
    if len(tokens) < longest + 1:
        raise TenfoldError(
            f"the text has {len(tokens):,} tokens, and a length of {longest:,} needs {longest + 1:,}; "
            "a longer text or a shorter length is right"
        )
    embedding: Any = reader.model.get_input_embeddings()
    rows = int(embedding.weight.shape[0])
    if tokens.max() >= rows:
        raise TenfoldError(f"the tokenizer writes token {tokens.max()}, and the model knows {rows:,}; it is another model's")  # fmt: skip
    return Reader(tokens.astype(np.uint32), passage=2 * longest).passages(
        min(n, len(tokens) - 1), longest
    )
