"""A module that takes for ever to be imported, in a worker process."""

import os
import time

from hanbeon import App
from tests.storm.journal import write_line

app = App()


@app.task(executor="process")
def never(journal: str) -> None: ...


if "HANBEON_SESSION" in os.environ:
    write_line(os.environ["HANBEON_TEST_JOURNAL"], f"began {os.getpid()}")
    time.sleep(3600)
