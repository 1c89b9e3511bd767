"""Tasks: problems with true answers, as digit arrays, and the formats that write them as tokens."""

from tenfold.registry import Registry
from tenfold.tasks.base import Examples, Role, Task, Vocabulary
from tenfold.tasks.formats import FORMATS, Format, Line, Written
from tenfold.tasks.samplers import SAMPLERS

TASKS: Registry[Task] = Registry("task", "tenfold.tasks", package="tenfold.tasks", base=Task)

__all__ = [
    "FORMATS",
    "SAMPLERS",
    "TASKS",
    "Examples",
    "Format",
    "Line",
    "Role",
    "Task",
    "Vocabulary",
    "Written",
]
