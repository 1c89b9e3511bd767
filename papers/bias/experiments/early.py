"""Where calibration breaks: first trainings that were stopped early, three seeds.

    tenfold reproduce bias/early

Stage 1 of addition is stopped when 5, 25, 50, 75 and 90% are right at the training length (`bias/addition-vanilla-at-50`), and when
it is first measured, with nothing right (`-at-0`), and calibrated all the same (`bias/addition-calibrated-at-50`); the second
training is as long as that of the finished model. Of goals that are reached together one counts: 0, 50 and 90, which claims
read, before the others.
About 15 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.papers.bias.second_stage import (
    PART,
    calibrated_rows,
    second,
    steps_until,
    train_second,
)
from tenfold.runs.recipe_files import recipe

PLAIN = "bias/addition-vanilla"
STOPS = (5, 25, 75, 0, 50, 90)  # % right; of those reached at one step the last counts


def grid(scale):
    return [recipe(PLAIN, scale, seed=seed) for seed in range(3)]


def measure(lab):
    plain = list(lab.runs)
    stopped = lab.sweep([early for run in plain for early in stops(run)])
    whole = plain[0].recipe.train.steps // PART
    stages = [
        second(run, run.recipe.name.replace("vanilla", "calibrated"), steps=whole)
        for run in (*plain, *stopped)
    ]
    for stage, run in train_second(lab, stages):
        yield from calibrated_rows(lab, stage, run)


def stops(run):
    """The same training, ended when it was first so good: its rate is constant, so nothing else changes."""
    at = {steps_until(run, percent / 100): percent for percent in STOPS}
    at.pop(None, None)  # goals that it never reached
    for step, percent in sorted(at.items()):
        yield run.recipe.replace(name=f"{PLAIN}-at-{percent}", train={"steps": step})


def draw(drawing):
    early = {f"bias/addition-calibrated-at-{p}": f"{p}%" for p in sorted(STOPS)}
    early["bias/addition-calibrated"] = "(not stopped)"
    from_rows.by_length(
        drawing.rows,
        early,
        drawing.folder / "early",
        "Calibrated; first model stopped when right on",
    )
