"""Training: a readable loop, an optimizer, checkpoints that are whole or not there."""

from tenfold.training.checkpoint import Checkpoint, Checkpoints
from tenfold.training.loop import Job, Progress, train
from tenfold.training.options import LENGTHS, Training

__all__ = ["LENGTHS", "Checkpoint", "Checkpoints", "Job", "Progress", "Training", "train"]
