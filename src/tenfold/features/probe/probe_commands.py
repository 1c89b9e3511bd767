"""`tenfold probe`: what happens beyond a language model's training length, and how far it looks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tenfold.cli.app import Figures, Json, app, as_text, parse_lengths, print_json, print_page


@app.command
def probe(
    model: Annotated[str, Parameter(help="A folder of a model, or its name on the hub.")],
    /,
    *,
    text: Annotated[
        str,
        Parameter(
            help="A file, a folder, a pattern such as docs/**/*.md, or a corpus: its test part."
        ),
    ] = "python-code",
    lengths: Annotated[
        str | None,
        Parameter(
            help="Tokens: 512,1024; default: from a fourth of the training length to four times it."
        ),
    ] = None,
    rope: Annotated[
        list[str] | None,
        Parameter(
            negative=(),
            help="Also with other rotary scalings: linear=4, ntk=4, yarn=4, or several with commas.",
        ),
    ] = None,
    n: Annotated[int | None, Parameter(help="How many tokens to predict at every length.")] = None,
    samples: Annotated[
        int, Parameter(help="How many texts to measure attention on; 0 leaves it out.")
    ] = 2,
    gradient: Annotated[
        bool, Parameter(help="Measure receptive fields by gradient, too.", negative="--no-gradient")
    ] = True,
    eps: Annotated[
        float, Parameter(help="The share of attention that a receptive field leaves out.")
    ] = 0.05,
    trained: Annotated[
        int | None, Parameter(help="The training length; default: what the config states.")
    ] = None,
    tokenizer: Annotated[
        str | None, Parameter(help="A folder or a name, where the model's own has no tokenizer.")
    ] = None,
    batch: Annotated[int, Parameter(help="Windows that are read at a time.")] = 1,
    dtype: Annotated[str, Parameter(help="float32, bfloat16, float16 or float64.")] = "float32",
    device: Annotated[str, Parameter(help="A device of torch: cpu, cuda, mps.")] = "cpu",
    memory: Annotated[
        float | None,
        Parameter(help="GiB that may be used beyond the model; default: what is free."),
    ] = None,
    out: Annotated[
        Path, Parameter(help="The folder of the page, the data and finished parts.")
    ] = Path("probe"),
    figures: Figures = None,
    fresh: Annotated[
        bool, Parameter(negative=(), help="Start over instead of going on after finished parts.")
    ] = False,
    json_: Annotated[Json, Parameter(name="--json")] = False,
) -> None:
    """Measure a language model by length: perplexity, loss by position, receptive fields, sinks, next to theory.

    The model is any causal language model of transformers, from safetensors, without remote code. The same command
    again goes on where it was stopped.

    `tenfold probe EleutherAI/pythia-70m --text book.txt --lengths 512,1024,2048,4096 --rope linear=2,yarn=2`
    """  # fmt: skip
    from tenfold.features.probe.probe import probe as find
    from tenfold.features.probe.probe_lines import probe_lines
    from tenfold.features.probe.probe_page import write_probe
    from tenfold.runs.terminal import Watch

    with Watch(["probe"], [1]) as watch:
        result = find(
            model, tokenizer, Path(text), None if lengths is None else parse_lengths(lengths),
            n=n, samples=samples, batch=batch, eps=eps, gradient=gradient, rope=rope or (), trained=trained, dtype=dtype,
            device=device, memory=memory, out=out, fresh=fresh, progress=watch.counting("thousands of tokens"),
        )  # fmt: skip
    written, drawn = write_probe(result, out, figures)
    if json_:
        return print_json({**result.as_json(), **as_text(written), "figures": drawn})
    print(*probe_lines(result), sep="\n")
    return print_page(written, drawn)
