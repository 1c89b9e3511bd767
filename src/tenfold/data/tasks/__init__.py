"""Tasks: problems with true answers. `TASKS` and `SAMPLERS` know them by name."""

from tenfold.core.registry import Registry
from tenfold.data.roles import Role
from tenfold.data.tasks.samplers import SAMPLERS
from tenfold.data.tasks.sequence import SequenceTask
from tenfold.data.tasks.task import Examples, NumberTask, Task, Vocabulary

TASKS: Registry[Task] = Registry("task", "tenfold.tasks", package="tenfold.data.tasks", base=Task)

__all__ = [
    "SAMPLERS",
    "TASKS",
    "Examples",
    "NumberTask",
    "Role",
    "SequenceTask",
    "Task",
    "Vocabulary",
]
