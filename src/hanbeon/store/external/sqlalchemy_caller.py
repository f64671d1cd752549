"""SQLAlchemy: finds the driver's connection once SQLAlchemy's own transaction has begun."""

from __future__ import annotations

from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.store.external.caller import Caller
from hanbeon.store.external.psycopg_caller import AsyncPsycopgCaller, PsycopgCaller


async def async_caller(connection: Any) -> Caller:
    """Return the driver's connection of an AsyncConnection, asyncpg's or psycopg's."""
    _check_driver(connection.dialect, "asyncpg", "psycopg")
    driver = (await connection.get_raw_connection()).driver_connection
    caller: Caller = driver if connection.dialect.driver == "asyncpg" else AsyncPsycopgCaller(driver)
    if not (connection.in_transaction() and caller.is_in_transaction()):
        # The first statement begins it for both SQLAlchemy and the driver, so that a later commit() applies to it.
        await connection.exec_driver_sql("SELECT 1")
    return caller


def sync_caller(connection: Any) -> Caller:
    """Return the driver's connection of a Connection: psycopg's."""
    _check_driver(connection.dialect, "psycopg")
    caller = PsycopgCaller(connection.connection.driver_connection)
    if not (connection.in_transaction() and caller.is_in_transaction()):
        connection.exec_driver_sql("SELECT 1")
    return caller


def _check_driver(dialect: Any, *drivers: str) -> None:
    if dialect.name != "postgresql" or dialect.driver not in drivers:
        known = " or ".join(f"postgresql+{driver}://" for driver in drivers)
        raise InvalidInput(
            Rule("driver_not_supported", known=known, dialect=dialect.name, driver=dialect.driver),
            field="transaction",
        )
