"""The types of the dashboard are those of the API."""

import json
import re
import subprocess

from hatch_build import SOURCE, tool
from tests.absence import unavailable
from tests.docs.markdown import ROOT
from tools.dashboard_types import PATH, api_types


def test_types_of_the_dashboard_are_up_to_date() -> None:
    assert PATH.read_text() == api_types(), "out of date: run `make docs`"


def test_page_compiles_with_the_types_of_the_api() -> None:
    """The bundler only removes types: a field that the API does not have would go unnoticed."""
    compiler = SOURCE / "node_modules/typescript/bin/tsc"
    if not compiler.exists():
        unavailable("the dashboard's packages are not installed; `make setup` installs them with its bundle")
    check = [tool("node"), str(compiler), "--noEmit"]
    checked = subprocess.run(check, cwd=SOURCE, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_lock_file_names_no_download_address() -> None:
    lock = json.loads((ROOT / "dashboard" / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    assert not re.search(r"https?://", (ROOT / "dashboard" / ".npmrc").read_text())
