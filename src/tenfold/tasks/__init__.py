"""Tasks: problems with true answers, as digit arrays, and the formats that write them as tokens."""

from tenfold.registry import Registry
from tenfold.roles import Role
from tenfold.tasks.base import Examples, Task, Vocabulary
from tenfold.tasks.formats import Format, InPlace, Interleaved, Line, Reversed, Written
from tenfold.tasks.samplers import SAMPLERS
from tenfold.tasks.sentences import Sentences, SentencesInPlace
from tenfold.tasks.text import InText

TASKS: Registry[Task] = Registry("task", "tenfold.tasks", package="tenfold.tasks", base=Task)
FORMATS: Registry[Format] = Registry(
    "format",
    "tenfold.formats",
    of=(InPlace, Reversed, Interleaved, InText, Sentences, SentencesInPlace),
)

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
