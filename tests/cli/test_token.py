"""`hanbeon token`: create, list and revoke."""

from hanbeon import App
from tests.cli.hanbeon import call


async def test_a_token_is_shown_once_listed_without_itself_and_revoked(database_url: str) -> None:
    await App(database_url).migrate()
    where = ("--database", database_url)
    (text,) = (await call("token", "create", "--user", "ada", "--scope", "admin", *where)).lines
    assert len(text) > 40
    made = (await call("token", "create", "--user", "bob", "--scope", "read", "--json", *where)).document
    assert (made["user"], made["scope"], made["revoked_at"]) == ("bob", "read", None)

    listed = await call("token", "list", "--json", *where)
    assert [(each["user"], each["scope"]) for each in listed.document["items"]] == [("ada", "admin"), ("bob", "read")]
    table = await call("token", "list", *where)
    for output in (listed.out, table.out):
        assert text not in output
        assert made["token"] not in output

    assert (await call("token", "revoke", str(made["id"]), *where)).lines == [f"token {made['id']} of bob is revoked"]
    again = (await call("token", "revoke", str(made["id"]), "--json", *where)).document
    assert again["revoked_at"] is not None


async def test_rejects_invalid_token_arguments(empty_sqlite_url: str) -> None:
    where = ("--database", empty_sqlite_url)
    assert (await call("token", "list", *where)).code == 3
    assert (await call("token", "create", "--user", "", "--scope", "read", *where)).code == 2
    assert (await call("token", "create", "--user", "ada", "--scope", "root", *where)).code == 2
    assert (await call("token", "revoke", "7", *where)).code == 3
    assert (await call("token", "revoke", str(2**64), *where)).code == 3
