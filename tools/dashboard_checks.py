"""Checks of the dashboard's sources with the tools of its `package-lock.json`, run by the Node that bundles it.

`python -m tools.dashboard_checks lint` checks form, style and types; `fmt` formats and applies the safe fixes; `test`
runs the unit tests. Without the npm registry nothing is checked, which is said, and an error under `CI=true`.
"""

from __future__ import annotations

import os
import subprocess
import sys

from hatch_build import SOURCE, install, tool

_BIOME = "node_modules/@biomejs/biome/bin/biome"
_COMMANDS = {
    "lint": [
        [_BIOME, "ci", "--error-on-warnings", "--colors=off"],
        ["node_modules/typescript/bin/tsc", "--project", "tsconfig.tests.json"],
        # The page has no types of Node.
        ["node_modules/typescript/bin/tsc"],
    ],
    "test": [["tests.mjs"]],
    "fmt": [[_BIOME, "check", "--write"]],
}


def main(name: str) -> int:
    """Run the commands of that name, up to the first that fails; return the status."""
    try:
        install()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"dashboard: no {name}, since its packages could not be installed: {error}", file=sys.stderr)
        return int(os.environ.get("CI") == "true")
    for command in _COMMANDS[name]:
        status = subprocess.run([tool("node"), *command], cwd=SOURCE, check=False).returncode
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
