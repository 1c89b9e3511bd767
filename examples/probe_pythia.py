"""Train two small Pythia-shaped models (GPT-NeoX) at 128 tokens, one with rotary positions and one with ALiBi.

    python examples/probe_pythia.py --out pythia
    tenfold probe pythia/rotary --text python-code --lengths 64,128,256,512,1024
    tenfold probe pythia/alibi --text python-code --lengths 64,128,256,512,1024

Both read the training part of the standard library's source, in pieces of a tokenizer that is learned from it. They
have the same weights at the start and see the same batches. Some minutes each on two cores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, PreTrainedTokenizerFast

from tenfold import hf
from tenfold.data.corpora.standard_library import PythonCode

LENGTH, PIECES, END = 128, 1024, "<|endoftext|>"


def training_texts() -> Iterator[str]:
    """The modules of the training part."""
    return (each.text for each in PythonCode().documents() if each.part == "train")


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-pair encoding, learned from the training part."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(training_texts(), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END)


def make_model(encoding: str) -> GPTNeoXForCausalLM:
    """A model of the shape of Pythia, small; `rotary` are the positions that it has."""
    torch.manual_seed(0)
    config = GPTNeoXConfig(
        vocab_size=PIECES,
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=512,
        max_position_embeddings=LENGTH,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPTNeoXForCausalLM(config)
    return model if encoding == "rotary" else hf.swap(model, encoding)


def train(model: GPTNeoXForCausalLM, tokens: torch.Tensor, steps: int, batch: int) -> float:
    """Train with AdamW on windows drawn at random; the mean loss of the last hundred steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01, betas=(0.9, 0.95))
    warm = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, 0.5 * (1 + np.cos(np.pi * step / steps)) + 1e-3),
    )
    generator, losses, began = torch.Generator().manual_seed(0), [], time.monotonic()
    model.train()
    for step in range(steps):
        starts = torch.randint(len(tokens) - LENGTH, (batch,), generator=generator)
        rows = torch.stack([tokens[start : start + LENGTH] for start in starts.tolist()])
        loss = model(input_ids=rows, labels=rows).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % 100 == 0:
            recent = float(np.mean(losses[-100:]))
            print(
                f"step {step + 1}: loss {recent:.3f}, {time.monotonic() - began:.0f} s", flush=True
            )
    return float(np.mean(losses[-100:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("pythia"))
    parser.add_argument("--encodings", nargs="+", default=["rotary", "alibi"])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=8)
    asked = parser.parse_args()
    tokenizer = make_tokenizer()
    end = tokenizer.eos_token_id
    written = (tokenizer(text)["input_ids"] + [end] for text in training_texts())
    tokens = torch.tensor([piece for text in written for piece in text])
    print(f"{len(tokens):,} tokens of training text", flush=True)
    for encoding in asked.encodings:
        model = make_model(encoding)
        loss = train(model, tokens, asked.steps, asked.batch)
        print(f"{encoding}: loss {loss:.3f} at the end", flush=True)
        model.eval().save_pretrained(asked.out / encoding)
        tokenizer.save_pretrained(asked.out / encoding)


if __name__ == "__main__":
    main()
