"""The URL through PgBouncer of a new PostgreSQL database without any table: migrations must pass a pooler, too."""

from collections.abc import Iterator

import pytest

from tests.absence import unavailable
from tests.databases.pgbouncer import find_pgbouncer, pgbouncer


@pytest.fixture
def pooled_url(empty_postgres_url: str) -> Iterator[str]:
    program = find_pgbouncer()
    if program is None:
        unavailable("no PgBouncer here: install it (apt-get install pgbouncer, brew install pgbouncer)")
    with pgbouncer(program, empty_postgres_url) as url:
        yield url
