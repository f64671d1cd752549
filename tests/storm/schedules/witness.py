"""A record of the definitions in force, written by triggers of the database in the transaction of each change."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.store import Store
from hanbeon.surfaces.schedules.definition import Definition
from tests.storm.moments import rows_of

_TABLE = """
CREATE TABLE in_force (schedule_id text NOT NULL, version bigint, definition text, paused boolean, timed_since bigint,
  at bigint NOT NULL)
"""
_INTO = "INSERT INTO in_force (schedule_id, version, definition, paused, timed_since, at)"
_NEW = "(NEW.id, NEW.version, NEW.definition, NEW.paused, NEW.timed_since, hanbeon.now())"
_OLD = "(OLD.id, NULL, NULL, NULL, NULL, hanbeon.now())"
_POSTGRES = (
    f"""CREATE FUNCTION write_new() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN {_INTO} VALUES {_NEW}; RETURN NULL; END $$""",
    f"""CREATE FUNCTION write_old() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN {_INTO} VALUES {_OLD}; RETURN NULL; END $$""",
    "CREATE TRIGGER made AFTER INSERT ON hanbeon.schedule FOR EACH ROW EXECUTE FUNCTION write_new()",
    "CREATE TRIGGER changed AFTER UPDATE OF version ON hanbeon.schedule FOR EACH ROW EXECUTE FUNCTION write_new()",
    "CREATE TRIGGER deleted AFTER DELETE ON hanbeon.schedule FOR EACH ROW EXECUTE FUNCTION write_old()",
)
_SQLITE = (
    f"CREATE TRIGGER made AFTER INSERT ON hanbeon.schedule BEGIN {_INTO} VALUES {_NEW}; END",
    f"CREATE TRIGGER changed AFTER UPDATE OF version ON hanbeon.schedule BEGIN {_INTO} VALUES {_NEW}; END",
    f"CREATE TRIGGER deleted AFTER DELETE ON hanbeon.schedule BEGIN {_INTO} VALUES {_OLD}; END",
)
_definition = msgspec.json.Decoder(Definition)


class InForce(NamedTuple):
    """A definition, and the instant at which it was written: while its schedule's row was locked for that."""

    version: int
    definition: Definition
    paused: bool
    timed_since: int
    at: int

    @property
    def label(self) -> str:
        label: str = msgspec.json.decode(self.definition.args)["label"]
        return label


class Life(NamedTuple):
    """All definitions of a schedule in the order in which they were in force, and when it was deleted."""

    definitions: list[InForce]
    deleted_at: int | None

    def at(self, instant: int) -> InForce | None:
        """Return the definition in force at that instant."""
        if self.deleted_at is not None and instant > self.deleted_at:
            return None
        return next((each for each in reversed(self.definitions) if each.at <= instant), None)


async def watch(store: Store) -> None:
    """Record every change of a schedule from now on."""
    for sql in (_TABLE, *(_POSTGRES if isinstance(store.database, PostgresDatabase) else _SQLITE)):
        await rows_of(store, sql)


async def lives(store: Store) -> dict[str, Life]:
    found: dict[str, Life] = {}
    for row in await rows_of(store, "SELECT * FROM in_force ORDER BY schedule_id, at, version"):
        life = found.setdefault(row["schedule_id"], Life([], None))
        if row["version"] is None:
            found[row["schedule_id"]] = life._replace(deleted_at=row["at"])
            continue
        definition = _definition.decode(row["definition"])
        life.definitions.append(InForce(row["version"], definition, bool(row["paused"]), row["timed_since"], row["at"]))
    return found
