"""One process of a floor measurement: `python -m bench.floor STORE fill|claim|commit NUMBER SECONDS START_AT`."""

from __future__ import annotations

import json
import sys
import time
from types import ModuleType

from bench.adapters.adapter import url
from bench.floor import postgres, sqlite

_STORES: dict[str, ModuleType] = {"postgres": postgres, "sqlite": sqlite}


def main() -> None:
    store, command, number, seconds, start_at = sys.argv[1:]

    def wait() -> None:
        # So that two processes start at the same moment.
        time.sleep(max(0.0, float(start_at) - time.time()))

    module = _STORES[store]
    if command == "fill":
        module.fill(url(), int(number))
    elif command == "claim":
        print(json.dumps(module.claim(url(), int(number), float(seconds), wait)))
    else:
        print(json.dumps(module.commit(url(), float(seconds), wait)))


if __name__ == "__main__":
    main()
