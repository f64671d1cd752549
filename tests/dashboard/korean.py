"""Refusals of the server in Korean, as the page shows them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from hanbeon.errors import InvalidInput
from hatch_build import SOURCE, tool
from tests.absence import unavailable

_SCRIPT = """
import { readFileSync } from "node:fs";
import { scripts } from "./bundle.mjs";
const [{ text }] = (await scripts(["src/lib/rules.ts"], "unwritten", { write: false })).outputFiles;
const { rendered, ruleText } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
const made = ([text, values]) => (text === null ? (ruleText(values) ?? null) : rendered(text, values));
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(made)));
"""


def refused(refuse: Callable[[], object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        refuse()
    return caught.value


def rendered(texts: Iterable[tuple[str | None, dict[str, Any]]]) -> list[str | None]:
    """Each text with its values, as the page renders it; without a text, the rule that the values are in Korean."""
    if not (SOURCE / "node_modules/esbuild").exists():
        unavailable("the dashboard's packages are not installed; `make setup` installs them with its bundle")
    command = [tool("node"), "--input-type=module", "--eval", _SCRIPT]
    done = subprocess.run(
        command, cwd=SOURCE, input=json.dumps(list(texts)), capture_output=True, text=True, check=True
    )
    found: list[str | None] = json.loads(done.stdout)
    return found


def korean(refusals: Iterable[InvalidInput]) -> list[str | None]:
    """The Korean text of each, without its field."""
    return rendered((None, each.rule.serialize() if each.rule else {"code": ""}) for each in refusals)
