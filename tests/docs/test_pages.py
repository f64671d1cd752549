"""Links in the pages resolve, Python blocks compile, and numbers are those of the code."""

import ast
import re
from pathlib import Path

import pytest

from hanbeon.client.client import RETRY_SECONDS
from hanbeon.client.client import TIMEOUT_SECONDS as CLIENT_SECONDS
from hanbeon.clock import MICROS
from hanbeon.domain.bounds import (
    BATCH_EDGES,
    BATCH_JOBS,
    GRAPH_EDGES,
    GRAPH_JOBS,
    JOB_EDGES,
    PAGE_BYTES,
    PAGE_EDGES,
    PAGE_ROWS,
    ROLES,
)
from hanbeon.domain.log import PAGE_LINES
from hanbeon.domain.log_buffer import PIECE
from hanbeon.domain.outcome import TIMEOUT_MESSAGE
from hanbeon.domain.retry import MAX_DELAY_US, NEVER_RETRIED
from hanbeon.engine.tick import GRACE_SHARE
from hanbeon.outbound.client import _KEPT_SECONDS
from hanbeon.server.auth_throttle import MOST as FAILURES_MOST
from hanbeon.server.auth_throttle import WINDOW_SECONDS as FAILURES_WINDOW
from hanbeon.server.connections import BYTES_A_SECOND
from hanbeon.server.idempotency import DEAD_SECONDS, KEPT_SECONDS
from hanbeon.settings import Settings
from hanbeon.store.database.postgres import _USER_TRANSACTIONS_AT_MOST
from hanbeon.store.database.sqlite import USER_TRANSACTION_SECONDS
from hanbeon.store.database.sqlite_errors import BUSY_TIMEOUT_MS
from hanbeon.store.operations.prune import TIMINGS_KEPT_US
from hanbeon.store.operations.tallies import _READY_LANES
from hanbeon.surfaces.offices.schemas import LISTENERS_MOST
from hanbeon.tasks.http_call import CONNECT_SECONDS, REDIRECTS, TIMEOUT_SECONDS
from tests.docs.markdown import PAGES, ROOT, anchors, blocks, links, name

_PAGES_MOST = 30
"""Decisions are not counted."""
_CITING = [
    path
    for folder in ("src", "tests", "tools", "bench", "examples", "dashboard/src")
    for kind in ("py", "pyi", "sql", "ts", "tsx", "toml")
    for path in (ROOT / folder).rglob(f"*.{kind}")
]
_CITED = re.compile(r"docs/(?:decisions/)?[\w-]+\.md")
_MERGED = re.compile(r"^- (\d{4}) to (\d{4}) are part of", re.MULTILINE)
"""Numbers of records that another one contains."""
_EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=name)


@_EACH_PAGE
def test_relative_links_resolve(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert ROOT in target.parents, link
        assert not anchor or anchor in anchors(target), link


def test_code_and_its_texts_cite_pages_that_exist() -> None:
    cited = {(name(path), page) for path in _CITING for page in _CITED.findall(path.read_text())}
    assert len(cited) > 20
    assert [each for each in cited if not (ROOT / each[1]).exists()] == []


@_EACH_PAGE
def test_python_blocks_compile(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, name(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def test_there_are_few_pages() -> None:
    assert len(list((ROOT / "docs").glob("*.md"))) <= _PAGES_MOST


def test_index_links_to_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in links(index)}
    assert set((ROOT / "docs").glob("*.md")) - {index} <= linked


def test_decisions_are_listed_and_have_four_sections() -> None:
    index = ROOT / "docs" / "decisions" / "README.md"
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    listed = [link for link in links(index) if link[0].isdigit()]
    assert list(dict.fromkeys(listed)) == [record.name for record in records]
    numbers = [int(record.name[:4]) for record in records]
    merged = {
        number for first, last in _MERGED.findall(index.read_text()) for number in range(int(first), int(last) + 1)
    }
    assert sorted({*numbers, *merged}) == list(range(1, numbers[-1] + 1))
    for record, number in zip(records, numbers, strict=True):
        text = record.read_text()
        assert text.startswith(f"# {number:04} ")
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        assert headings == ["## Context", "## Decision", "## Consequences", "## Alternatives"], record.name


_DEFAULTS = Settings.model_fields
_MINUTE = {60.0: "a minute"}


def _whole(name: str) -> str:
    return f"{_DEFAULTS[name].default:g}"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("guarantees", f"limited to {USER_TRANSACTION_SECONDS:g} s"),
        ("guarantees", f"({_DEFAULTS['lease'].default / 10:g} s of {_whole('lease')} by default)"),
        ("guarantees", f"{_DEFAULTS['retention'].default / 86_400:g} days after its end"),
        ("engine", f"`lease` ({_whole('lease')} s)"),
        ("engine", f"`shutdown_grace` ({_whole('shutdown_grace')} s)"),
        ("engine", f"`concurrency` ({_whole('concurrency')})"),
        ("engine", f"polling ({_whole('poll')} s)"),
        ("engine", f"{_DEFAULTS['max_payload_bytes'].default // 2**20} MiB (`max_payload_bytes`)"),
        ("engine", f"{_DEFAULTS['retention'].default / 86_400:g} days (`retention`)"),
        ("engine", f"the default, `{_DEFAULTS['timezone'].default}`,"),
        ("engine", f"`{TIMEOUT_MESSAGE}`"),
        ("engine", {3600: "at most one hour"}[MAX_DELAY_US // MICROS]),
        ("monitoring", f"`max_log_bytes` ({_DEFAULTS['max_log_bytes'].default // 2**20} MiB)"),
        ("monitoring", f"grown to {PIECE // 1024} KiB"),
        ("executors", f"{TIMEOUT_SECONDS:g} s unless the task sets another one"),
        ("executors", f"`connect_timeout` ({CONNECT_SECONDS:g} s)"),
        ("executors", f"{REDIRECTS} at the most (`redirects`)"),
        ("executors", f"kept for {_KEPT_SECONDS:g} s"),
        ("jobs", f"Its default `timeout` is {TIMEOUT_SECONDS:g}"),
        ("operations", f"up to {_USER_TRANSACTIONS_AT_MOST}"),
        ("operations", f"`pool_size` ({_DEFAULTS['pool_size'].default})"),
        ("operations", f"waits up to {BUSY_TIMEOUT_MS // 1000} s"),
        ("operations", f"in the last {({0.2: 'fifth'})[GRACE_SHARE]} of it"),
        ("server", f"`max_request_bytes` ({_DEFAULTS['max_request_bytes'].default // 2**20} MiB)"),
        ("server", f"`request_timeout` ({_DEFAULTS['request_timeout'].default:g} s)"),
        ("server", f"for each {BYTES_A_SECOND:,} bytes"),
        ("configuration", f"for each {BYTES_A_SECOND:,} bytes"),
        ("server", f"| jobs of a batch | {BATCH_JOBS:,}, at least 1 |"),
        ("server", f"| dependencies of a batch, of one job | {BATCH_EDGES:,}, {JOB_EDGES:,} |"),
        ("server", f"without the default config | {ROLES:,} |"),
        ("server", f"| webhooks, notification targets of an office | {LISTENERS_MOST} each |"),
        ("server", f"| rows of a page | {PAGE_ROWS:,}; {PAGE_LINES:,} lines of a log |"),
        ("server", f"more than {PAGE_BYTES // 2**20} MiB of stored text, or more than {PAGE_EDGES:,} dependencies"),
        ("server", f"if these exceed {PAGE_BYTES // 2**20} MiB"),
        ("server", f"its latest {PAGE_ROWS:,} executions"),
        ("server", f"{GRAPH_JOBS:,} jobs with {GRAPH_EDGES:,} dependencies"),
        ("offices", f"[at most {BATCH_JOBS:,} jobs]"),
        ("server", f"within {KEPT_SECONDS / 3600:g} hours"),
        ("server", f"free again after {_MINUTE[DEAD_SECONDS]}"),
        ("server", f"After {FAILURES_MOST} invalid tokens from one address within {_MINUTE[FAILURES_WINDOW]}"),
        ("client", f"`timeout` ({CLIENT_SECONDS:g} s)"),
        ("client", f"`retry_for` ({RETRY_SECONDS:g} s)"),
        ("monitoring", "extended to the minute"),
        ("monitoring", f"{TIMINGS_KEPT_US // (86_400 * MICROS)} days at the most"),
        ("monitoring", f"beyond the first {_READY_LANES:,}"),
        *(("engine", f"`{kind}` | never |") for kind in sorted(NEVER_RETRIED)),
    ],
)
def test_prose_states_the_values_of_the_code(page: str, words: str) -> None:
    assert words in " ".join((ROOT / "docs" / f"{page}.md").read_text().split())
