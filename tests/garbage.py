"""Spares the garbage collector the thousands of tests of a run, which stay until its end.

Otherwise each collection of its oldest generation looks at all of them: about a tenth of what a worker computes. What
is left is collected as rarely as in a worker of the product.
"""

import gc

import pytest

from hanbeon.engine.garbage_collector import THRESHOLDS


@pytest.hookimpl(wrapper=True)
def pytest_collection():  # type: ignore[no-untyped-def]  # a generator of pluggy's
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
