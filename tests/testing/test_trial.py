"""Tasks that are not safe to run again, found by `simulate`, and those that are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hanbeon import App, Context
from hanbeon.errors import InvalidInput
from hanbeon.testing import SimulationFailed, effects, simulate

app = App("sqlite:///shop.db")
ORDERS = range(4)
_SEEDS = 40


@app.task(retries=9, retry_delay=1)
async def charge(order: int) -> None:
    """Not safe: the bank does not know that it is the same charge."""
    effects("bank").append(order)
    await asyncio.sleep(1)


@app.task(retries=9, retry_delay=1)
async def charge_once(order: int) -> None:
    """Safe: the bank compares keys."""
    bank = effects("bank")
    if order not in bank:
        bank.append(order)
    await asyncio.sleep(1)


@app.task(retries=9, retry_delay=1)
async def deposit(amount: int) -> None:
    """Not safe: others write between the read and the write."""
    account = effects("account")
    before = sum(account)
    await asyncio.sleep(0.1)
    account[:] = [before + amount]


@app.task(retries=9, retry_delay=1)
async def deposit_in_transaction(ctx: Context, amount: int) -> None:
    """Safe: the write commits with the success, once."""
    transaction = await ctx.transaction()
    await transaction.execute("UPDATE account SET balance = balance + ?", amount)
    await asyncio.sleep(0.1)


@app.task(retries=9, retry_delay=1, on_lost="fail")
async def ship(order: int) -> None:
    """Not safe: nobody ships what was lost."""
    await asyncio.sleep(1)
    effects("shipped").append(order)


@app.task(retries=9, retry_delay=1)
def charge_plainly(order: int) -> None:
    """A plain function, with the defect of `charge`."""
    effects("bank").append(order)


app.http(
    "notify", "https://shop.example.org/orders/{args.order}", params={"order": "integer"}, retries=9, retry_delay=1
)


def _each(task: Any) -> Any:
    async def workload(sim: Any) -> None:
        for order in ORDERS:
            await sim.app.enqueue(task.call(order))
            await asyncio.sleep(1)

    return workload


def _charged_once(sim: Any) -> None:
    assert sorted(sim.effects["bank"]) == list(ORDERS)


def test_a_charge_without_a_key_is_found() -> None:
    with pytest.raises(SimulationFailed, match=r"seed \d+: invariant: AssertionError") as failed:
        simulate(app, _each(charge), _charged_once, seeds=_SEEDS)
    error = failed.value
    assert error.trace
    assert len(error.plan.faults) == 1
    assert f"seeds=[{error.seed}]" in str(error)
    with pytest.raises(SimulationFailed):
        simulate(app, _each(charge), _charged_once, seeds=[error.seed])


def test_a_charge_with_a_key_is_safe() -> None:
    trials = simulate(app, _each(charge_once), _charged_once, seeds=10)
    assert trials.jobs == 10 * len(ORDERS)


def test_read_modify_write_is_found() -> None:
    async def workload(sim: Any) -> None:
        for _ in ORDERS:
            await sim.app.enqueue(deposit.call(10))

    def invariant(sim: Any) -> None:
        assert sum(sim.effects["account"]) == 10 * len(ORDERS)

    with pytest.raises(SimulationFailed, match="no fault is needed"):
        simulate(app, workload, invariant, seeds=_SEEDS)


def test_writes_of_the_attempts_own_transaction_are_safe() -> None:
    async def workload(sim: Any) -> None:
        async with sim.app.transaction() as transaction:
            await transaction.execute("CREATE TABLE account (balance INTEGER)")
            await transaction.execute("INSERT INTO account VALUES (0)")
        for _ in ORDERS:
            await sim.app.enqueue(deposit_in_transaction.call(10))

    def invariant(sim: Any) -> None:
        assert sim.rows("SELECT balance FROM account") == [(10 * len(ORDERS),)]

    simulate(app, workload, invariant, seeds=10)


def test_work_that_runs_at_most_once_is_found() -> None:
    def invariant(sim: Any) -> None:
        assert sorted(sim.effects["shipped"]) == list(ORDERS)

    with pytest.raises(SimulationFailed):
        simulate(app, _each(ship), invariant, seeds=_SEEDS, faults=["kill"])


def test_plain_functions_run_in_simulated_threads() -> None:
    def invariant(sim: Any) -> None:
        assert set(sim.effects["bank"]) == set(ORDERS)

    simulate(app, _each(charge_plainly), invariant, seeds=5)


def test_http_tasks_are_answered_by_a_function() -> None:
    def answer(url: str) -> Any:
        asked = effects("asked")
        asked.append(url)
        return (503, "busy") if len(asked) == 1 else {"ok": True}

    async def workload(sim: Any) -> None:
        await sim.app.enqueue("notify", {"order": 7})

    def invariant(sim: Any) -> None:
        assert sim.effects["asked"][:2] == ["https://shop.example.org/orders/7"] * 2

    simulate(app, workload, invariant, seeds=5, http=answer)


def test_rejects_unknown_faults() -> None:
    with pytest.raises(InvalidInput, match="faults"):
        simulate(app, _each(charge), _charged_once, faults=["earthquake"])


def test_effects_are_for_simulations() -> None:
    with pytest.raises(RuntimeError, match="simulate"):
        effects("bank")
