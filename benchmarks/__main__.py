"""`python -m benchmarks [step] [time_to_accuracy] [encodings] [decoding] [sweep] [probe] [--quick|--full] [--json FILE] [--save]`"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded

import argparse
import datetime
import json
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import torch

from benchmarks import decoding, encodings, probe, step, sweep, time_to_accuracy
from tenfold.training.loop import keep_memory

BENCHMARKS: dict[str, Any] = {
    "step": step,
    "time_to_accuracy": time_to_accuracy,
    "encodings": encodings,
    "decoding": decoding,
    "sweep": sweep,
    "probe": probe,
}
HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it still run?")
    parser.add_argument("--full", action="store_true", help="more rounds and seeds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument(
        "--save", action="store_true", help="update results/ and the README's tables"
    )
    asked = parser.parse_args()
    for name in asked.names:
        if name not in BENCHMARKS:
            parser.error(f'unknown benchmark "{name}"; there are {", ".join(BENCHMARKS)}')
    if asked.quick and asked.save:
        parser.error("a quick run shows nothing worth saving")
    torch.set_num_threads(1)
    keep_memory()  # as in our trainer; it is the whole process's, so BERT has it too
    results = {}
    for name in asked.names or BENCHMARKS:
        result = {"provenance": provenance(name, asked.full)}
        result |= BENCHMARKS[name].run(asked.quick, asked.full)
        lines = [*BENCHMARKS[name].table(result), "", credits(result["provenance"])]
        print("\n".join(lines), end="\n\n", flush=True)
        results[name] = result
        if asked.save:
            (HERE / "results" / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
            publish(name, lines)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1) + "\n")


def provenance(name: str, full: bool) -> dict[str, Any]:
    """What a number depends on, beside the code."""
    return {
        "command": f"python -m benchmarks {name}" + " --full" * full,
        "date": datetime.date.today().isoformat(),
        "commit": _git("rev-parse", "--short", "HEAD")
        + ("+" if _git("diff", "HEAD", "--", ":/src") else ""),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "vectors": torch.backends.cpu.get_cpu_capability(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1),  # of other processes, when it began
    }


def credits(given: dict[str, Any]) -> str:
    return (
        f"`{given['command']}`, {given['date']}, commit {given['commit']}, {given['cpu']}, "
        f"{given['cores']} cores, {given['vectors']}, torch {given['torch']}, {given['threads']} thread; "
        f"load of other processes at the start {given['load']}."
    )


def publish(name: str, lines: list[str]) -> None:
    """Put a table between its marks in the README."""
    readme = HERE / "README.md"
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    new = "\n\n".join([marks[0], "\n".join(lines), marks[1]])
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    readme.write_text(re.sub(pattern, lambda _: new, readme.read_text(), flags=re.DOTALL))


def _git(*words: str) -> str:
    asked = subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
