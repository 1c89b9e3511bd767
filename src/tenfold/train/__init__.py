"""Training: a readable loop, an optimizer, checkpoints that are whole or not there."""

from tenfold.train.checkpoint import Checkpoint, Checkpoints
from tenfold.train.lengths import LENGTHS
from tenfold.train.loop import Job, Progress, train
from tenfold.train.options import Training

__all__ = ["LENGTHS", "Checkpoint", "Checkpoints", "Job", "Progress", "Training", "train"]
