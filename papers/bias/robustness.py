"""Where calibration breaks: first trainings stopped early, and answers that are wrong in training, three seeds.

    tenfold reproduce bias/robustness

Stage 1 of addition is stopped when 25, 50, 75 and 90% are right at the training length (`bias/addition-vanilla-at-50`), and
calibrated all the same (`bias/addition-calibrated-at-50`); the second training is as long as that of the finished model.
Noise: each digit of a training answer is another one with this probability, in both trainings; beside them relative keys and
windows, trained on the same. About 40 minutes a seed on one idle core at laptop scale; finished runs are not done again.
"""

from tenfold.lab.recipes import recipe
from tenfold.lab.second_stage import PART, second, steps_until, told, train_second
from tenfold.report import from_rows

PLAIN = "bias/addition-vanilla"
STOPS = (25, 50, 75, 90)  # % right
NOISE = (5, 20)  # % of digits
RIVALS = ("bias/addition-relative", "bias/addition-window-cyclic")


def grid(scale):
    seeds = range(3)
    names = (PLAIN, *RIVALS)
    noisy = [noisy_one(name, scale, seed, p) for seed in seeds for p in NOISE for name in names]
    return [recipe(PLAIN, scale, seed=seed) for seed in seeds] + noisy


def noisy_one(name, scale, seed, percent):
    chosen = recipe(name, scale, seed=seed, data={"noise": percent / 100})
    return chosen.replace(name=f"{name}-noise-{percent}")


def measure(lab):
    plain = [run for run in lab.runs if run.recipe.name == PLAIN]
    noisy = [run for run in lab.runs if run.recipe.name.startswith(f"{PLAIN}-noise")]
    stopped = lab.sweep([early for run in plain for early in stops(run)])
    whole = plain[0].recipe.train.steps // PART
    stages = [
        second(run, run.recipe.name.replace("vanilla", "calibrated"), steps=whole)
        for run in (*plain, *stopped, *noisy)
    ]
    for stage, run in train_second(lab, stages):
        yield from told(lab, stage, run)


def stops(run):
    """The same training, ended when it was first so good: its rate is constant, so nothing else changes."""
    for percent in STOPS:
        step = steps_until(run, percent / 100)
        if step is not None:
            yield run.recipe.replace(name=f"{PLAIN}-at-{percent}", train={"steps": step})


def draw(_scale, rows, folder):
    early = {f"bias/addition-calibrated-at-{p}": f"stopped at {p}%" for p in STOPS}
    early["bias/addition-calibrated"] = "not stopped"
    from_rows.by_length(rows, early, folder / "early", "Calibrated from a model that was")
    for percent in NOISE:
        series = {
            f"bias/addition-{kind}-noise-{percent}": words
            for kind, words in (
                ("vanilla", "plain"),
                ("calibrated", "calibrated"),
                ("relative", "relative keys"),
                ("window-cyclic", "window, T = 3"),
            )
        }
        title = f"{percent}% of the digits of training answers are wrong"
        from_rows.by_length(rows, series, folder / f"noise-{percent}", title)
