"""Proof for every length: a local model on a task that is a finite machine meets finitely many contexts."""

from tenfold.certify.certificate import Certificate, Prover, certify, unprovable
from tenfold.certify.contexts import Contexts, reachable
from tenfold.certify.decoding import Swift, by_neighbours, by_sweeps, gathered
from tenfold.certify.extraction import Extracted, extract
from tenfold.certify.locality import Local, NotCertifiable, locality
from tenfold.certify.machine import Machine, as_dot
from tenfold.certify.search import LIMIT, TooMany, View

__all__ = [
    "LIMIT",
    "Certificate",
    "Contexts",
    "Extracted",
    "Local",
    "Machine",
    "NotCertifiable",
    "Prover",
    "Swift",
    "TooMany",
    "View",
    "as_dot",
    "by_neighbours",
    "by_sweeps",
    "certify",
    "extract",
    "gathered",
    "locality",
    "reachable",
    "unprovable",
]
