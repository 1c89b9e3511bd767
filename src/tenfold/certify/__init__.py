"""Proof for every length: a local model on a task that is a finite machine meets finitely many contexts."""

from tenfold.certify.certificate import Certificate, certify
from tenfold.certify.contexts import LIMIT, Contexts, reachable
from tenfold.certify.locality import Local, NotCertifiable, locality

__all__ = [
    "LIMIT",
    "Certificate",
    "Contexts",
    "Local",
    "NotCertifiable",
    "certify",
    "locality",
    "reachable",
]
