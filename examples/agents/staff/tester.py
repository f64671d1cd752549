"""QA: starts the server in a staging folder and tests it over HTTP.

The first attempt finds the staging folder empty or out of date: it updates the folder and fails, and the retry
succeeds.
"""

import filecmp
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from .report import done, read, step, try_later, work_folder


def main() -> None:
    folder = work_folder()
    plan = read(folder / "plan.json")
    _prepare(folder / "site", folder / "staging")
    server = subprocess.Popen(
        [sys.executable, str(folder / "staging" / "server.py"), "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        done({"passed": _check(server.stdout.readline().strip(), plan)})
    finally:
        server.kill()
        server.wait()


def _prepare(site: Path, staging: Path) -> None:
    names = ["index.html", "server.py"]
    if staging.is_dir() and filecmp.cmpfiles(site, staging, names, shallow=False)[0] == names:
        return
    shutil.rmtree(staging, ignore_errors=True)
    shutil.copytree(site, staging)
    try_later("staging was not up to date; it is now")


def _check(url: str, plan: dict[str, Any]) -> list[str]:
    passed = []
    step(25, f"The page, at {url}")
    page = _fetch(url + "/")
    for field in plan["fields"]:
        assert f'name="{field}"' in page, f"the page does not ask for the {field}"
    passed.append("the page asks for every field")
    step(50, "A guest signs")
    entry = {field: f"some {field}" for field in plan["fields"]}
    _fetch(url + plan["entries"], entry)
    assert json.loads(_fetch(url + plan["entries"])) == [entry], "the entry is missing"
    passed.append("an entry can be read")
    step(75, "A guest sends nothing")
    assert _status(url + plan["entries"], {}) == 422, "an empty entry is accepted"
    passed.append("an empty entry is refused")
    return passed


def _fetch(url: str, body: Any = None) -> str:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=10) as response:
        text: str = response.read().decode()
        return text


def _status(url: str, body: Any) -> int:
    try:
        _fetch(url, body)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


if __name__ == "__main__":
    main()
