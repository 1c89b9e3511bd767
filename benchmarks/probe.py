"""The peak memory of `tenfold.probe` beside that of the model's own forward pass, each in a process of its own.

A probe reads every window in chunks with the cache, and measures attention and gradients chunk by chunk. The peak is what
the system counts for the whole process (`ru_maxrss`): Python, torch, the weights, everything.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

LENGTH = 8192
SHAPES = {  # of GPT-NeoX, random weights
    "Pythia-70M": {"vocab_size": 50304, "hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048},
    "the same with 1,024 tokens": {"vocab_size": 1024, "hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048},
    "tiny": {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64},
}  # fmt: skip
ARMS = ("loaded", "forward", "probe")


class Letters:
    """A tokenizer of bytes, of which any model knows the first 64."""

    eos_token_id = None

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) % 64 for letter in text]}


def arm(name: str, shape: str, length: int) -> dict[str, Any]:
    """Do one thing in this process, and report its peak."""
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    import tenfold

    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = GPTNeoXConfig(**SHAPES[shape], max_position_embeddings=2048)
    model = GPTNeoXForCausalLM(config).eval()
    text = "".join(chr(48 + n) for n in torch.randint(64, (length + 1,)).tolist())
    weights = sum(each.nbytes for each in model.parameters())
    if name == "forward":
        with torch.inference_mode():
            model(torch.tensor([Letters()(text)["input_ids"][:length]]))
    if name == "probe":
        tenfold.probe(model, Letters(), text, [length], n=length, samples=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB
    return {"peak": peak, "weights": weights}


def run(quick: bool, full: bool) -> dict[str, Any]:
    """Each arm of each shape in a process of its own."""
    length = 256 if quick else LENGTH
    shapes = ["tiny"] if quick else [shape for shape in SHAPES if shape != "tiny"]
    rows = []
    for shape in shapes:
        found = {}
        for name in ARMS:
            words = [sys.executable, "-m", "benchmarks.probe", name, shape, str(length)]
            done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])  # fmt: skip
            found[name] = json.loads(done.stdout.splitlines()[-1])
        peaks = {name: found[name]["peak"] for name in ARMS}
        rows.append({"shape": shape, "weights": found["probe"]["weights"], **peaks, "ratio": peaks["probe"] / peaks["forward"]})  # fmt: skip
    return {"length": length, "rows": rows}


def table(result: dict[str, Any]) -> list[str]:
    lines = [
        f"Peak memory of a whole process at {result['length']:,} tokens, MiB: the model loaded, after its own forward pass, and after a",
        "probe with perplexity in both ways, attention and gradients.",
        "",
        "| model | weights | loaded | forward pass | probe | probe / forward pass |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        sizes = (f"{row[name] / 2**20:,.0f}" for name in ("weights", *ARMS))
        lines.append(f"| {row['shape']} | {' | '.join(sizes)} | {row['ratio']:.2f} |")
    worst = max(row["ratio"] for row in result["rows"])
    verdict = "met" if worst <= 2 else "not met"
    return [*lines, "", f"What we aim at: at most twice the forward pass; {verdict} ({worst:.2f})."]


if __name__ == "__main__":
    print(json.dumps(arm(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
