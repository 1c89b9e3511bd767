"""Proofs, machines and very long problems as lines for a terminal."""

from __future__ import annotations

from tenfold.data.tasks.task import Task
from tenfold.features.proofs.certificate import Certificate
from tenfold.features.proofs.extraction import Extracted
from tenfold.features.proofs.long_problems import Feat
from tenfold.features.proofs.machine_files import column_label, token_label


def print_certificate(found: Certificate) -> None:
    """The verdict in words, with what it rests on."""
    depends = f"every answer digit depends on {found.columns} column" + "s" * (found.columns != 1)
    if found.proved:
        limit = "not bounded" if found.bound is None else f"at most {found.bound:.3g}"
        print(
            f"{found.verdict}: right at every length\n{found.contexts:,} contexts, all right; "
            f"{depends}; the least margin of a right digit is {found.margin:.3g}, what rounding may "
            f"take from it {limit}; {found.seconds:.1f} s"
        )
        return
    print(
        f"{found.verdict}: wrong on {found.wrong:,} of {found.contexts:,} contexts; {depends}\n"
        "the shortest inputs on which it fails, answered whole:"
    )
    for case in found.counterexamples:
        print(f"  {case['question']} = {case['answer'] or '(nothing)'}, truly {case['truth']}")


def print_feat(found: Feat) -> None:
    """A very long problem, both ways."""
    verdict = "every digit right" if found.right else "WRONG"
    same = "the same" if found.agrees else "SOMETHING ELSE"
    print(
        f"{found.what}: {verdict}, {found.model_seconds:.2f} s by the model; {same} by its machine, "
        f"{found.machine_seconds:.3f} s"
    )


def print_machine(found: Extracted, task: Task) -> None:
    """What machine a model is, and whether it is its task's."""
    machine, differs = found.machine, found.differs
    most = "no smaller one does the same" if machine.smallest else f"at least {machine.bound}"
    print(
        f"{machine.states} states, {most}; from {found.contexts:,} contexts\n"
        f"the task's own machine: {'yes, state for state' if found.own else 'no'}"
    )
    if differs is not None:
        read = " ".join(map(column_label(found), differs.word.tolist()))
        ours, theirs = (token_label(task, out) for out in (differs.output, differs.task_output))
        print(
            f"they differ first after the columns {read} (lowest first): from state {differs.state} it "
            f"writes {ours}, the task {theirs}"
        )
