"""The core dependencies of tenfold at exactly the earliest versions that pyproject.toml allows, as requirements for pip."""

import tomllib
from pathlib import Path

TOOLS = ("pytest==8.3.5", "pytest-xdist==3.6.1", "hypothesis==6.110.0")


def requirements(project: Path = Path("pyproject.toml")) -> list[str]:
    """`numpy>=2.0` as `numpy==2.0`."""
    stated = tomllib.loads(project.read_text())["project"]["dependencies"]
    return [each.replace(">=", "==") for each in stated] + list(TOOLS)


if __name__ == "__main__":
    print(*requirements(), sep="\n")
