"""The core dependencies of tenfold at exactly the earliest versions that pyproject.toml allows, as requirements for pip."""

import sys
import tomllib
from pathlib import Path

TOOLS = ("pytest==8.3.5", "pytest-xdist==3.6.1", "hypothesis==6.110.0")


def requirements(torch: str = "", project: Path = Path("pyproject.toml")) -> list[str]:
    """`numpy>=2.0` as `numpy==2.0`; another version of torch where it is named.

    >>> requirements("2.13.0")[:2]
    ['torch==2.13.0', 'numpy==2.0']
    """
    stated = tomllib.loads(project.read_text())["project"]["dependencies"]
    earliest = dict(each.split(">=") for each in stated)
    earliest["torch"] = torch or earliest["torch"]
    return [f"{name}=={version}" for name, version in earliest.items()] + list(TOOLS)


if __name__ == "__main__":
    print(*requirements(*sys.argv[1:]), sep="\n")
