"""Chains whose tables were changed behind the store's back: the audit finds each."""

from __future__ import annotations

from tests.surfaces.chains.chain_kit import ChainKit, job

_DOCTORINGS = {
    "an undone job shown as done": "UPDATE hanbeon.chain_job SET state = 'SUCCESS' WHERE place = 0",
    "a job that never ran shown as done": "UPDATE hanbeon.chain_job SET state = 'SUCCESS' WHERE place = 2",
    "an undone step whose job failed": "UPDATE hanbeon.job SET state = 'failed' WHERE seq = {undo}",
    "a failed step whose job succeeded": "UPDATE hanbeon.job SET state = 'succeeded' WHERE seq = {failed}",
    "a failed step whose job timed out": "UPDATE hanbeon.job SET failure_type = 'timeout' WHERE seq = {failed}",
    "a step whose job waits": "UPDATE hanbeon.job SET state = 'pending', finished_at = NULL, attempt_status = NULL"
    " WHERE seq = {undo}",
    "two steps of one job": "UPDATE hanbeon.chain_step"
    " SET step_job = (SELECT step_job FROM hanbeon.chain_step WHERE n = 1) WHERE n = 4",
}
"""The chain has gone forward over job 0, failed at job 1, and undone both; job 2 never ran."""

_COLUMNS = {
    "chain_job": "id, state",
    "chain_step": "n, state, step_job",
    "job": "seq, state, failure_type, finished_at, attempt_status",
}
"""The key of each table, and what is doctored."""


async def test_verify_finds_doctored_states(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain(job("a"), job("b", "fail"), job("c"))
    await chain_kit.run(chain)
    assert await chain_kit.findings() == []
    _, failed, _, undo = sorted(each.seq for each in await chain_kit.app.jobs(queue="chains"))
    for table, columns in _COLUMNS.items():
        await chain_kit.script(f"CREATE TABLE sound_{table} AS SELECT {columns} FROM hanbeon.{table}")
    found = {}
    for name, script in _DOCTORINGS.items():
        await chain_kit.script(script.format(failed=failed, undo=undo))
        found[name] = "broken_chain" in await chain_kit.findings()
        for table, columns in _COLUMNS.items():
            key, *changed = columns.split(", ")
            values = ", ".join(f"{column} = s.{column}" for column in changed)
            await chain_kit.script(
                f"UPDATE hanbeon.{table} AS t SET {values} FROM sound_{table} AS s WHERE t.{key} = s.{key}"
            )
    assert [name for name, is_found in found.items() if not is_found] == []
    assert await chain_kit.findings() == []


async def test_verify_accepts_deleted_engine_jobs(chain_kit: ChainKit) -> None:
    """Steps outlive the engine's jobs, which retention deletes first."""
    chain = await chain_kit.chain(job("a"), job("b", "fail"))
    await chain_kit.run(chain)
    await chain_kit.kit.clock.advance(chain_kit.app.settings.retention + 1)
    await chain_kit.kit.prune()
    assert await chain_kit.app.jobs(queue="chains") == []
    assert await chain_kit.findings() == []
