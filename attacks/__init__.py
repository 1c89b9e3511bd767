"""Attacks on the proofs of shipped models: other orders of rounding, and changed weights.

    python -m attacks rounding --save     # the largest float32 error that was observed, beside its bound
    python -m attacks sabotage --save     # changed weights: the verdict beside brute force by other code

`--save` writes the table into docs/certify.md. `--quick` takes few contexts or cases.
"""
