"""The extracted machine as a Coq file, with a proof that it computes its task for all lists of digits.

The file holds the table of the machine as data, and what each of its states stands for, such as a carry. Coq computes that
every entry of the table agrees with a rule of arithmetic. By induction over columns, the rule computes the sum, product or
difference. A file with a changed entry is rejected. The parts that do not depend on the machine are in `coq/*.v`; they use
the standard library of Coq alone. `coqc` checks the file (Debian: `apt install coq`).

>>> import tenfold  # doctest: +SKIP
>>> run = tenfold.open_run("addition")  # doctest: +SKIP
>>> path = write_coq(
...     extract_machine(run), run.built.batcher.task, Path("addition.v")
... )  # doctest: +SKIP
>>> check_coq(path).accepted  # doctest: +SKIP
True
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tenfold import __version__
from tenfold.core.errors import TenfoldError
from tenfold.core.files import replace_text
from tenfold.data.tasks.arithmetic.addition import Addition
from tenfold.data.tasks.arithmetic.comparison import Comparison
from tenfold.data.tasks.arithmetic.multiplication import Multiplication
from tenfold.data.tasks.arithmetic.subtraction import Subtraction
from tenfold.data.tasks.arithmetic.successor import Successor
from tenfold.data.tasks.symbolic.parity import Parity
from tenfold.data.tasks.task import Task
from tenfold.data.tasks.transducer import END, REFUSED, Transducer
from tenfold.features.proofs.extraction import Extracted
from tenfold.features.proofs.machine_files import describe_machine
from tenfold.features.proofs.state_merging import UNDEFINED

COQ = "machine.v"
PARTS = Path(__file__).parent / "coq"
COMPLETE = "Closed under the global context"  # nothing is assumed
TIMEOUT = 3600  # seconds that coqc is given
Meaning = tuple[int, int]  # a multiplier, or 1; a carry, a borrow, a parity or a verdict

HEAD = """\
From Coq Require Import List Arith Lia Bool.
Import ListNotations.

(** * The machine *)

(** In a state, at a column: write a digit and go to the next state; or stop; or nothing is known. *)
Inductive entry := Write (digit next : nat) | Stop | Nothing.
"""


@dataclass(frozen=True)
class Statement:
    """What is proved of a task's machine: the parts of the file, and what the task's states stand for."""

    rule: str  # files in `coq/`
    proofs: tuple[str, ...]
    name: str  # of the theorem
    sentence: str  # for the head of the file
    theorem: Callable[[Task, Transducer], str] = lambda task, machine: ""
    means: Callable[[Transducer, int], Meaning] = lambda machine, state: (1, state)
    data: Callable[[Task], str] = lambda task: ""


def coq_text(extracted: Extracted, task: Task) -> str:
    """The Coq file of a machine. Raises where the task has no statement, or where the machine does not compute it."""
    statement = STATEMENTS.get(type(task))
    if statement is None:
        known = ", ".join(kind.name for kind in STATEMENTS)
        raise TenfoldError(
            f'nothing is stated in Coq about the task "{task.name}"; there are statements about: {known}'
        )
    if extracted.view.together:
        raise TenfoldError(
            "the statements in Coq are about operands of their own lengths; this format pads them to the longest"
        )
    meanings = _meanings(extracted, task, statement)
    parts = [
        _comment(extracted, task, statement),
        HEAD,
        _data(extracted, task, statement),
        _part(statement.rule),
        f"(** What each state stands for. *)\nDefinition meanings : list (list meaning) :=\n  {_rows(meanings)}.\n"
        "Opaque meanings.\n",
        _part("columns.v"),
        *map(_part, statement.proofs),
        statement.theorem(task, extracted.task),
        f"(** Nothing is assumed. *)\nPrint Assumptions {statement.name}.\n",
    ]
    return "\n".join(filter(None, parts))


def write_coq(extracted: Extracted, task: Task, path: Path) -> Path:
    """Write the Coq file of a machine. Its name must be one of a Coq module, such as `my_machine.v`."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*\.v", path.name):
        raise TenfoldError(
            f'"{path.name}" is no name of a Coq file; it must be letters, digits and _, then .v, such as my_machine.v'
        )
    text = coq_text(extracted, task)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, text)
    return path


@dataclass(frozen=True)
class CoqCheck:
    """What `coqc` said of a file; `accepted` is None where it is not installed."""

    path: Path
    accepted: bool | None
    said: str = ""

    def __str__(self) -> str:
        if self.accepted is None:
            return f"coqc is not installed, so the proof was not checked; to check it: coqc {self.path}"
        verb = "accepts" if self.accepted else "rejects"
        return f"coqc {verb} {self.path}" + f": {self.said}" * (not self.accepted)


def check_coq(path: Path) -> CoqCheck:
    """Check a file with coqc, where that is installed. The files that coqc writes are removed."""
    program = shutil.which("coqc")
    if program is None:
        return CoqCheck(path, None)
    with tempfile.TemporaryDirectory() as folder:
        copied = shutil.copy(path, folder)
        try:
            ran = subprocess.run(
                [program, "-q", Path(copied).name],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return CoqCheck(path, False, f"it took more than {TIMEOUT} seconds")
    said = " ".join((ran.stdout + ran.stderr).split())
    return CoqCheck(path, ran.returncode == 0 and said.endswith(COMPLETE), said)


def _meanings(extracted: Extracted, task: Task, statement: Statement) -> list[list[str]]:
    """What each state of the machine stands for: the states of the task's machine that go with it, by search."""
    if extracted.differs is not None:
        raise TenfoldError(
            "the machine does not compute its task, so there is no proof: "
            + describe_machine(extracted, task).splitlines()[-1]
        )
    ours, theirs = extracted.machine, extracted.task
    begin = np.repeat(theirs.starts, len(ours.starts) // len(theirs.starts))
    pairs = list(dict.fromkeys(zip(ours.starts.tolist(), begin.tolist(), strict=True)))
    known, first = set(pairs), set(pairs)
    blank = (theirs.digits(np.arange(theirs.symbols)) == theirs.base).any(1)
    for q, p in pairs:  # grows
        asked = theirs.output[p] != REFUSED
        if (q, p) in first:  # a number has a digit, so no problem begins with a blank
            asked &= ~blank | (ours.output[q] != UNDEFINED)
        if (ours.output[q, asked] != theirs.output[p, asked]).any():
            missing = (ours.output[q, asked] == UNDEFINED).any()
            raise TenfoldError(
                "the machine leaves open what it writes at a column that no problem brings there; nothing is stated then"
                if missing
                else "the machine does not compute its task, so there is no proof"
            )
        going = asked & (theirs.output[p] != END)
        after = np.unique(np.stack([ours.next[q, going], theirs.next[p, going]], 1), axis=0)
        fresh = [pair for pair in map(tuple, after.tolist()) if pair not in known]
        known.update(fresh)
        pairs += fresh
    meanings: list[list[str]] = [[] for _ in range(ours.states)]
    for q, p in sorted(pairs):
        meanings[q].append("({}, {})".format(*statement.means(theirs, p)))
    return meanings


def _comment(extracted: Extracted, task: Task, statement: Statement) -> str:
    states = f"{extracted.machine.states} state" + "s" * (extracted.machine.states != 1)
    return (
        f"(** {statement.sentence}\n\n"
        f'    The table below is the finite machine of a transformer trained on the task "{task.name}" in base {task.base}:\n'
        f"    {states}, extracted by tenfold {__version__} from {extracted.contexts} contexts. It is data. Coq computes that\n"
        "    each of its entries agrees with a rule, and proves that the rule computes the task for all lists of digits.\n"
        "    Not proved here: that the transformer does what the table says. See docs/certify.md.\n\n"
        "    To check it: coqc FILE.v *)\n"
    )


def _data(extracted: Extracted, task: Task, statement: Statement) -> str:
    machine = extracted.machine
    rows = [
        [_entry(*pair) for pair in zip(*both, strict=True)]
        for both in zip(machine.output.tolist(), machine.next.tolist(), strict=True)
    ]
    values = extracted.task.value[extracted.task.starts]
    of_starts = np.repeat(values, len(machine.starts) // len(values)).tolist()
    if extracted.task.hub is None:
        starts = [str(state) for state in dict.fromkeys(machine.starts.tolist())]
    else:
        pairs = dict.fromkeys(zip(of_starts, machine.starts.tolist(), strict=True))
        starts = [f"({value}, {state})" for value, state in pairs]
    kind = "nat" if extracted.task.hub is None else "(nat * nat)"
    said = "" if extracted.task.hub is None else ", for each multiplier"
    return (
        f"Definition base : nat := {task.base}.\n"
        f"Definition operands : nat := {extracted.task.operands}.  (* that are read by columns *)\n"
        f"Definition room : nat := {extracted.room}.  (* places of an answer beyond the longest operand *)\n\n"
        f"(** A row for each state; in it an entry for each column. *)\n"
        f"Definition table : list (list entry) :=\n  {_rows(rows)}.\n\n"
        f"(** The state in which it starts{said}. *)\n"
        f"Definition starts : list {kind} := [{'; '.join(starts)}].\n{statement.data(task)}"
        "Opaque base operands room table.\n"
    )


def _entry(output: int, following: int) -> str:
    return f"Write {output} {following}" if output >= 0 else "Stop" if output == END else "Nothing"


def _rows(rows: list[list[str]]) -> str:
    return "[" + ";\n   ".join(f"[{'; '.join(row)}]" for row in rows) + "]"


def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _sum_theorem(name: str, carry: int) -> Callable[[Task, Transducer], str]:
    """The theorem about sums of as many numbers as the task has, with a carry at the start."""

    def theorem(task: Task, machine: Transducer) -> str:
        names = [f"a{number}" for number in range(1, machine.operands + 1)]
        if len(names) <= 2:
            names = ["a", "b"][: len(names)]
        given = " -> ".join(f"digits {a}" for a in names)
        total = " + ".join([f"value {a}" for a in names] + ["1"] * carry)
        written = " -> ".join(f"written {a}" for a in names)
        numbers = f"[{'; '.join(names)}]"
        return f"""\
(** * The machine adds *)

Theorem {name} : forall start, In start starts -> forall {" ".join(names)}, {given} ->
  exists s, answer start {numbers} = Some s /\\ value s = {total} /\\ digits s
    /\\ ({written} -> written s).
Proof.
  assert (H : forallb (fun start => means start (1, {carry})) starts = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in H. intros start Hs. specialize (H start Hs). intros.
  destruct (machine_is_linear start 1 {carry} {numbers}) as [s [R [V [D W]]]];
    [lia | exact H | vm_compute; lia | vm_compute; lia | reflexivity | each|].
  exists s. split; [exact R | split; [unfold total in V; simpl in V; lia | split; [exact D|]]].
  intros. apply W; [discriminate | each].
Qed.
"""

    return theorem


def _every_multiplier(task: Task, machine: Transducer) -> str:
    values = machine.value[machine.starts]
    return (
        f"(** Every multiplier from {values.min()} to {values.max()} has a start. *)\n"
        "Lemma every_multiplier :\n  forallb (fun m => existsb (fun s => fst s =? m) starts) "
        f"(seq {values.min()} {len(values)}) = true.\nProof. vm_compute. reflexivity. Qed.\n"
    )


def _multiplier_and_carry(machine: Transducer, state: int) -> Meaning:
    value = int(machine.value[state])
    return value, state - int(np.searchsorted(machine.value, value))


def _signs(task: Task) -> str:
    """The tokens of a comparison, by verdict: equal, greater, less."""
    tokens = "; ".join(map(str, task.vocabulary.ids("=><").tolist()))
    return f"Definition signs : list nat := [{tokens}].  (* equal, greater, less *)\n"


STATEMENTS: dict[type[Task], Statement] = {
    Addition: Statement(
        "sum_rule.v",
        ("sum.v",),
        "machine_adds",
        "This machine adds: for all lists of digits, it writes the digits of the sum.",
        _sum_theorem("machine_adds", carry=0),
    ),
    Successor: Statement(
        "sum_rule.v",
        ("sum.v",),
        "machine_adds_one",
        "This machine counts on: for all lists of digits, it writes the digits of the number plus 1.",
        _sum_theorem("machine_adds_one", carry=1),
    ),
    Multiplication: Statement(
        "sum_rule.v",
        ("sum.v", "product.v"),
        "machine_multiplies",
        "This machine multiplies: for each multiplier and all lists of digits, it writes the digits of the product.",
        _every_multiplier,
        _multiplier_and_carry,
    ),
    Subtraction: Statement(
        "difference_rule.v",
        ("difference.v",),
        "machine_subtracts_numbers",
        "This machine subtracts: for all lists of digits, the first not smaller, it writes the digits of the difference.",
    ),
    Parity: Statement(
        "parity_rule.v",
        ("parity.v",),
        "machine_counts",
        "This machine counts modulo 2: for all lists of digits, it writes the parity of the ones up to each digit.",
    ),
    Comparison: Statement(
        "comparison_rule.v",
        ("comparison.v",),
        "machine_compares",
        "This machine compares: for all lists of digits, it writes which low part is larger, at each column.",
        data=_signs,
    ),
}
