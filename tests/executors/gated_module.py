"""A module whose import in a worker process waits for a file."""

import os
import time
from pathlib import Path

from hanbeon import App

app = App()


@app.task(executor="process", on_lost="fail", retries=0)
def gated() -> str:
    return "ran"


if "HANBEON_SESSION" in os.environ:
    while not Path(os.environ["HANBEON_TEST_GATE"]).exists():
        time.sleep(0.02)
