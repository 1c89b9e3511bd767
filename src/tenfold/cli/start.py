"""Running a command; whatever goes wrong that a person can mend is one line."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from cyclopts import CycloptsError

from tenfold.cli.shared import app
from tenfold.errors import TenfoldError


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def main() -> None:
    """Run a command; whatever the person can mend is one line on standard error."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            app(sys.argv[1:], exit_on_error=False, print_error=False)
    except TenfoldError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except CycloptsError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(2) from None
