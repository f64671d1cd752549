"""Refusals of the server in Korean, as the page shows them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable

import pytest

from hanbeon.errors import InvalidInput
from hatch_build import SOURCE, tool
from tests.absence import unavailable

Refusal = tuple[str, str | None]
"""The text of a refusal, and its field."""
_SCRIPT = """
import { readFileSync } from "node:fs";
import { buildSync } from "esbuild";
const options = { entryPoints: ["src/lib/rule_texts.ts"], bundle: true, write: false, format: "esm", charset: "utf8" };
const [{ text }] = buildSync(options).outputFiles;
const { ruleText } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
const texts = JSON.parse(readFileSync(0, "utf8")).map(([detail, field]) => ruleText(detail, field) ?? null);
console.log(JSON.stringify(texts));
"""


def refused(refuse: Callable[[], object]) -> Refusal:
    with pytest.raises(InvalidInput) as caught:
        refuse()
    return str(caught.value), caught.value.field


def korean(refusals: Iterable[Refusal]) -> list[str | None]:
    """The Korean text of each; None where the page has none."""
    if not (SOURCE / "node_modules/esbuild").exists():
        unavailable("the dashboard's packages are not installed; `make setup` installs them with its bundle")
    command = [tool("node"), "--input-type=module", "--eval", _SCRIPT]
    done = subprocess.run(
        command, cwd=SOURCE, input=json.dumps(list(refusals)), capture_output=True, text=True, check=True
    )
    found: list[str | None] = json.loads(done.stdout)
    return found
