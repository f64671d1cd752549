"""Spares the garbage collector the thousands of tests of a run, which stay until its end.

Otherwise each collection of its oldest generation looks at all of them: about a tenth of what a worker computes.
"""

import gc

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()
