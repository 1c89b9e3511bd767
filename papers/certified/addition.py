"""Ten adders, trained on sums of up to 5 digits, each proved right at every length or refuted.

    python papers/certified/addition.py

About five minutes on two idle cores; finished runs are not done again. Writes results/certified-addition/.
"""

import time
from pathlib import Path

from tenfold.lab.recipes import recipe
from tenfold.lab.run import Run
from tenfold.lab.together import train_together
from tenfold.report.progress import Watch

SEEDS = range(10)
OUT = Path("results/certified-addition/results.md")


def main() -> None:
    recipes = [recipe("certified/addition", seed=seed) for seed in SEEDS]
    labels = [f"seed {r.seed}" for r in recipes]
    with Watch(labels, [r.train.steps for r in recipes]) as watch:
        runs = train_together(recipes, tell=watch)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n".join([*HEAD, *map(row, runs)]) + "\n")
    print(OUT)


HEAD = [
    "# Adders proved right at every length", "",
    "Recipe `certified/addition`: one layer, d = 64, 8 heads, a window of one column; 750 steps of 256 sums of 1 to 5 "
    "digits. Final checkpoint. `python papers/certified/addition.py` makes it again; the argument and its limits: "
    "[docs/certify.md](../../docs/certify.md).", "",
    "| seed | verdict | contexts | wrong | least margin | training, s | certifying, s | right at 100 digits, least slice | parameters | commit | date |",
    "|---" * 11 + "|",
]  # fmt: skip


def row(run: Run) -> str:
    began = time.monotonic()
    found = run.certify(which="final")
    seconds, result = time.monotonic() - began, run.result()
    longest = [
        line["value"] for line in result["rows"]
        if (line["length"], line["metric"], line["checkpoint"]) == (100, "exact", "final")
    ]  # fmt: skip
    made = result["environment"]
    cells = [
        run.recipe.seed, found.verdict, f"{found.contexts:,}", found.wrong, f"{found.margin:.2f}",
        f"{result['train_seconds']:.0f}", f"{seconds:.1f}", f"{100 * min(longest):.1f}%",
        f"{result['parameters']:,}", made["commit"], made["date"],
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
