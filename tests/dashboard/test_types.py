"""The types of the dashboard are those of the API."""

import json
import re

from tests.docs.markdown import ROOT
from tools.dashboard_types import PATH, api_types


def test_types_of_the_dashboard_are_up_to_date() -> None:
    assert PATH.read_text() == api_types(), "out of date: run `make docs`"


def test_lock_file_names_no_download_address() -> None:
    lock = json.loads((ROOT / "dashboard" / "package-lock.json").read_text())
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    assert not re.search(r"https?://", (ROOT / "dashboard" / ".npmrc").read_text())
