"""A browser for the explorer's page; without one the tests are skipped, or fail where it is required."""

import os
import shutil
from importlib.util import find_spec

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None or find_spec("playwright") is None:
        reason = f"there is no browser here: none of {', '.join(NAMES)}, or no playwright"
        if os.environ.get("TENFOLD_BROWSER") == "required":
            pytest.fail(f"{reason}; and TENFOLD_BROWSER is required")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(QUIET))
        yield browser
        browser.close()
