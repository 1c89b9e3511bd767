"""What an encoding can be known to do before anything is trained."""

from tenfold.theory.profile import profile
from tenfold.theory.reach import Reach, reach

__all__ = ["Reach", "profile", "reach"]
