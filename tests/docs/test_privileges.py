"""A role with the privileges that docs/operations.md lists can do everything but migrate."""

import asyncpg

from hanbeon.app import App
from hanbeon.surfaces.verify import verify
from tests.docs.markdown import ROOT, blocks


async def _greet(name: str) -> str:
    return f"Hello, {name}!"


async def test_the_documented_privileges_suffice(empty_postgres_url: str) -> None:
    (grants,) = [block.text for block in blocks(ROOT / "docs" / "operations.md") if block.language == "sql"]
    await App(empty_postgres_url).migrate()
    admin = await asyncpg.connect(empty_postgres_url)
    role = f"worker_{await admin.fetchval('SELECT current_database()')}"
    await admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
    try:
        await admin.execute(grants.replace(" worker;", f" {role};"))
        app = App(_as(empty_postgres_url, role))
        greet = app.task(_greet)
        async with app, app.worker():
            await app.configure_queue("limited", max_concurrent=1)
            job = await app.enqueue(greet.call("Ada"), queue="limited")
            assert await job.result(timeout=30) == "Hello, Ada!"
            assert await app.store.prune(0, 100) >= 0
            assert (await verify(app.store)).sound
    finally:
        await admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
        await admin.close()


def _as(url: str, role: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{role}:secret@{rest.partition('@')[2]}"
