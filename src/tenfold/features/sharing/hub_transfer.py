"""Upload to the Hugging Face hub and download from it, through huggingface_hub, which knows the user's account.

`HF_ENDPOINT` names another hub, `HF_HOME` the folder for what is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tenfold.core.errors import TenfoldError, printable

DATA = ("*.safetensors", "*.json", "*.yaml", "*.py", "README.md")  # what a shared run consists of


def push(folder: Path | str, repo: str, *, private: bool = False) -> str:
    """Upload a folder that `share` wrote; the address of the model on the hub."""
    hub = _library()
    with _reaching(repo):
        api = hub.HfApi(endpoint=hub.constants.ENDPOINT)
        api.create_repo(repo, private=private, exist_ok=True)
        api.upload_folder(repo_id=repo, folder_path=folder, commit_message="A run of tenfold")
    return f"{hub.constants.ENDPOINT}/{repo}"


def fetch(repo: str, revision: str | None = None) -> Path:
    """Download a shared run, or what has changed of it; the folder in which it is."""
    hub = _library()
    folder = Path(hub.constants.HF_HOME) / "tenfold" / repo.replace("/", "--")
    with _reaching(repo):
        hub.snapshot_download(
            repo,
            revision=revision,
            local_dir=folder,
            allow_patterns=list(DATA),
            endpoint=hub.constants.ENDPOINT,
        )
    return folder


def _library() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.constants
    except ImportError:
        raise TenfoldError(
            "the hub needs huggingface_hub, which is not installed: pip install 'tenfold[hf]'"
        ) from None
    return huggingface_hub


@contextmanager
def _reaching(repo: str) -> Iterator[None]:
    """Whatever goes wrong between here and the hub is one line; the library raises errors of several others."""
    try:
        yield
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise TenfoldError(
            f'"{repo}" on the Hugging Face hub cannot be reached: {printable(lines[0])[:200]}'
        ) from error
