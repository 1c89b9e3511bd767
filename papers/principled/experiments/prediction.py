"""What theory predicts by length, without any training: exact counts of residues.

    tenfold reproduce principled/prediction

Numbers of exactly each length. `predict-3-digits-51` is of products modulo 51 after training on 3 digits, as the paper's
table has it; `predict-2-digits-101` is of sums modulo 101 after 2 digits, where the shortest longer sums are never right.
A second on one core.
"""

from tenfold.features.truncation.prediction import operation, predict

ASKED = {  # recipe: operation, modulus, digits in training
    "principled/predict-3-digits-51": ("modular-multiplication", 51, 3),
    "principled/predict-3-digits-101": ("modular-multiplication", 101, 3),
    "principled/predict-2-digits-101": ("modular-addition", 101, 2),
    "principled/predict-2-digits-151": ("modular-addition", 151, 2),
}


def measure(_lab):
    for name, (kind, modulus, digits) in ASKED.items():
        for prediction in predict(operation(kind, modulus), digits, range(1, 10)):
            yield {
                "recipe": name, "trained": digits, "length": prediction.length, "slice": "full",
                "metric": "exact-predicted", "value": prediction.accuracy,
            }  # fmt: skip
