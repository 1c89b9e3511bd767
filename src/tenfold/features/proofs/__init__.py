"""Is this model right at every length? Prove it, or find the shortest input on which it fails.

A model whose attention sees a few digit columns meets a finite number of contexts. Running it on all of them decides.

| file | content |
|---|---|
| `certify.py`, `certificate.py` | the whole path of a proof; its result, verdict and comparison |
| `prover.py` | the hypotheses, the contexts of a model, its margins on them, whether some order of sums could overflow |
| `contexts.py` | every context that a task can produce, found by search |
| `soft_view.py`, `soft_prover.py` | models without a window: their hypotheses, near contexts, tests |
| `far_keys.py`, `far_bound.py` | what far keys can be, and what they can do at most (docs/soft-proof.md) |
| `failing_length.py` | a search for a length at which a model fails |
| `rounding.py`, `rounding_steps.py` | bounds on rounding errors in float32 and float64 |
| `declarations.py` | which components the prover knows; tests of what the others, and these, declare |
| `independent_checker.py`, `soft_checker.py` | a certificate checked by other code: numpy alone, no import of tenfold |
| `extraction.py`, `machine.py`, `state_merging.py`, `run_machine.py` | the finite machine that a model computes |
| `machine_files.py`, `machine_drawing.py` | the machine as JSON, DOT and pictures |
| `coq_export.py`, `coq/` | the machine as a Coq file, with a proof that it computes its task |
| `stop_when_proved.py` | `stop: certified` in a recipe |
| `schoolbook.py`, `shipped_answers.py`, `long_problems.py` | answers by proved models; numbers of a million digits |
| `proof_commands.py`, `proof_section.py` | commands, section of a report |

Python: `tenfold.certify("addition")`, `extract_machine(run)` in `run_machine.py`.
Command line: `tenfold certify addition`, `tenfold extract addition`, `tenfold export RUN --out FOLDER`.
"""
