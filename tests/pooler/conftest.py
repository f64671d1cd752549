"""The URL through PgBouncer of a new PostgreSQL database without any table: migrations must pass a pooler, too."""

import os
from collections.abc import Iterator

import pytest

from tests.databases.pgbouncer import find_pgbouncer, pgbouncer


@pytest.fixture
def pooled_url(empty_postgres_url: str) -> Iterator[str]:
    program = find_pgbouncer()
    if program is None:
        reason = "no PgBouncer here: install it (apt-get install pgbouncer, brew install pgbouncer)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with pgbouncer(program, empty_postgres_url) as url:
        yield url
