"""Encodings in unmodified Hugging Face models: `swap(model, "alibi")`, and `load(GPT2LMHeadModel, folder)`."""

from importlib.metadata import PackageNotFoundError, version

from tenfold.core.errors import TenfoldError

OLDEST = (5, 4)  # the first version that passes the number of queries to a mask

try:
    _installed = version("transformers")
except PackageNotFoundError:
    raise TenfoldError(
        "tenfold.hf needs transformers, which is not installed: pip install 'tenfold[hf]'"
    ) from None
if tuple(int(part) for part in _installed.split(".")[:2]) < OLDEST:
    raise TenfoldError(
        f"transformers {_installed} is too old for tenfold.hf, which needs {OLDEST[0]}.{OLDEST[1]}: "
        "pip install 'tenfold[hf]'"
    )

from tenfold.hf.loading import load  # noqa: E402 (only now is it known to work)
from tenfold.hf.own_rotary import own_rotary  # noqa: E402
from tenfold.hf.swapping import swap  # noqa: E402

__all__ = ["load", "own_rotary", "swap"]
