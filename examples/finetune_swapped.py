"""Take the rotary positions out of a Hugging Face model, put ALiBi in, and fine-tune it with transformers' Trainer.

A small model of the Pythia kind is trained on Python's standard library, byte by byte, at one length. It stands for
the checkpoint that you have. Then it is swapped and trained for some more steps. Perplexity is measured on modules
that were not trained on, at the trained length and at four times that.

    python examples/finetune_swapped.py            # minutes on one core
    python examples/finetune_swapped.py --steps 4  # seconds; shows only that it runs
"""

from __future__ import annotations

import copy
import math
import os
import tempfile
from itertools import islice

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing is downloaded

import cyclopts
import torch
from torch import Tensor
from transformers import (
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    PreTrainedModel,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from tenfold import hf
from tenfold.data.corpora.standard_library import PythonCode

HELD_OUT = 1 << 16  # bytes to measure on


def rows(part: str, length: int) -> Tensor:
    """Windows (N, length) of the bytes of all modules of a part: "train" or "test"."""
    text = "".join(document.text for document in PythonCode().documents() if document.part == part)
    data = torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8).long()
    return data[: len(data) // length * length].view(-1, length)


def small_model(length: int) -> GPTNeoXForCausalLM:
    """Put `AutoModelForCausalLM.from_pretrained(...)` here for a checkpoint of your own."""
    return GPTNeoXForCausalLM(
        GPTNeoXConfig(
            vocab_size=256, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512,
            max_position_embeddings=length, bos_token_id=None, eos_token_id=None,
        )
    )  # fmt: skip


def train(model: PreTrainedModel, windows: Tensor, steps: int, lr: float, seed: int) -> None:
    """Some steps of 16 windows each."""
    chosen = windows[torch.randperm(len(windows), generator=torch.Generator().manual_seed(seed))]
    data = [{"input_ids": row, "labels": row} for row in islice(chosen, 16 * steps)]
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=16, learning_rate=lr, warmup_steps=20,
            save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, seed=seed,
        )  # fmt: skip
        trainer = Trainer(model=model, args=options, train_dataset=data)
        trainer.remove_callback(PrinterCallback)
        trainer.train()


@torch.no_grad()
def perplexity(model: PreTrainedModel, length: int) -> float:
    """Of a byte, over windows that do not overlap."""
    windows = rows("test", length)[: HELD_OUT // length]
    losses = [model.eval()(batch, labels=batch).loss for batch in windows.split(8)]
    return math.exp(torch.stack(losses).mean().item())


def main(*, steps: int = 400, length: int = 128, encoding: str = "alibi", seed: int = 0) -> None:
    """Train for `steps`, swap, train for half as many again; the rotary model is trained as long."""
    torch.manual_seed(seed)
    windows, model = rows("train", length), small_model(length)
    train(model, windows, steps, 1e-3, seed)
    print(f"perplexity of a byte    at {length:4}  at {4 * length:4}", flush=True)

    def show(name: str, shown: PreTrainedModel) -> None:
        at = [perplexity(shown, length), perplexity(shown, 4 * length)]
        print(f"{name:22} {at[0]:8.2f} {at[1]:8.2f}", flush=True)

    show("rotary, trained", model)
    swapped = hf.swap(copy.deepcopy(model), encoding)
    show(f"{encoding}, before", swapped)
    for name, each in ((f"{encoding}, after", swapped), ("rotary, as long", model)):
        train(each, windows, steps // 2, 5e-4, seed + 1)
        show(name, each)


if __name__ == "__main__":
    cyclopts.run(main)
