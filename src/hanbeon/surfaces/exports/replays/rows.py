"""Replays as rows: add within the owner's quota, read, and delete, with their files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.errors import Conflict
from hanbeon.rule import Rule
from hanbeon.store.operations.retention import AgedRows, Retention, counts
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.exports.errors import ReplayInUse, ReplayNotFound, ReplayQuotaExceeded
from hanbeon.surfaces.exports.replays.unwanted_files import UnwantedFile, add_unwanted, delete_unwanted, forget_unwanted
from hanbeon.surfaces.numbers import number_of

_REPLAYS_A_STEP = 100


class NewReplay(msgspec.Struct, frozen=True, kw_only=True):
    """A replay to add. Its file is there, and `unwanted` is the row that would have it deleted."""

    uid: str
    owner: str
    name: str
    title: str
    root: str
    file: str
    bytes: int
    checksum: str
    duration_ms: int
    unwanted: int


class ReplayRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored replay. Instants are microseconds since 1970 UTC."""

    id: int
    uid: str
    owner: str
    name: str
    title: str
    root: str
    file: str
    bytes: int
    checksum: str
    duration_ms: int
    created_at: int


async def reserve_space(tx: Tx, upload: int, owner: str, needed: int, wanted: int, quota: int) -> int:
    """Reserve space for the file of an upload, by the number of its row; return how many bytes of it are granted.

    At least `needed`, at most `wanted`. They are reserved until the row is removed: when the file has become a replay,
    or is deleted.
    """
    # The row of the owner is locked by this, so that no two pass the quota together.
    used: int = (await tx.fetch("use_replay_space", owner, 0))[0]["bytes"]
    used += (await tx.fetch("reserved_replay_space", owner, upload))[0]["bytes"]
    if used + needed > quota:
        raise ReplayQuotaExceeded(quota, used)
    granted = min(wanted, quota - used)
    if not await tx.fetch("reserve_replay_space", upload, owner, granted):
        raise _late()
    return granted


async def add_replay(tx: Tx, new: NewReplay, quota: int) -> ReplayRecord:
    """Add a replay. A repeated request, which has the same `uid`, returns the first one, and its file is deleted."""
    found = await tx.fetch("replay_by_uid", new.uid)
    if not found:
        if not await forget_unwanted(tx, [new.unwanted]):
            raise _late()
        used = (await tx.fetch("use_replay_space", new.owner, new.bytes))[0]["bytes"]
        if used > quota:
            raise ReplayQuotaExceeded(quota, used - new.bytes)
        values = (new.uid, new.owner, new.name, new.title, new.root, new.file, new.bytes, new.checksum, new.duration_ms)
        await tx.fetch("add_replay", *values)
        found = await tx.fetch("replay_by_uid", new.uid)
    return replay_record(found[0])


async def replay_of(tx: Tx, owner: str, replay_id: int) -> ReplayRecord:
    return _one(await tx.fetch("replay_of", replay_id, owner), replay_id)


async def lock_replay(tx: Tx, owner: str, replay_id: int) -> ReplayRecord:
    """Return a replay that stays until the commit: its exports and deletion come one after the other."""
    return _one(await tx.fetch("lock_replay", replay_id, owner), replay_id)


async def replays_of(tx: Tx, owner: str, size: int, skip: int) -> tuple[list[ReplayRecord], int]:
    """Return a page of a user's replays, newest first, and how many there are."""
    rows = await tx.fetch("replays_of", owner, size, skip)
    return [replay_record(row) for row in rows], (await tx.fetch("count_replays", owner))[0]["rows"]


async def delete_replay(tx: Tx, owner: str, replay_id: int) -> None:
    """Delete a replay of which no export is unfinished; its file goes after the commit."""
    replay = await lock_replay(tx, owner, replay_id)
    unfinished = await tx.fetch("unfinished_exports_of_replay", replay_id)
    if unfinished:
        raise ReplayInUse(replay_id, unfinished[0]["id"])
    await _delete(tx, [replay])


async def prune_replays(tx: Tx, older_than_us: int, limit: int) -> int:
    """Delete old replays of which no export is kept; return how many."""
    found = [
        replay_record(row) for row in await tx.fetch("prunable_replays", older_than_us, min(limit, _REPLAYS_A_STEP))
    ]
    if not found:
        return 0
    # Looked at again now that they are locked: an export that was created meanwhile has committed and is visible.
    exported = {row["id"] for row in await tx.fetch("exported_replays", to_json([each.id for each in found]))}
    old = [each for each in found if each.id not in exported]
    await _delete(tx, old)
    return len(old)


async def _delete(tx: Tx, replays: Sequence[ReplayRecord]) -> None:
    if not replays:
        return
    sizes: dict[str, int] = {}
    for each in replays:
        sizes[each.owner] = sizes.get(each.owner, 0) + each.bytes
    await tx.fetch("delete_replays", to_json([each.id for each in replays]))
    await tx.fetch(
        "free_replay_space", to_json([{"owner": owner, "bytes": size} for owner, size in sorted(sizes.items())])
    )
    await add_unwanted(tx, [UnwantedFile(each.root, each.file) for each in replays])


def _late() -> Conflict:
    return Conflict(Rule("upload_too_slow"))


def _one(rows: Sequence[Any], replay_id: int) -> ReplayRecord:
    if not rows:
        raise ReplayNotFound(replay_id)
    return replay_record(rows[0])


def replay_record(row: Any) -> ReplayRecord:
    values = {name: row[name] for name in ReplayRecord.__struct_fields__ if name != "uid"}
    return ReplayRecord(uid=str(row["uid"]), **values)


def replay_number(replay: Any) -> int:
    """Return the number of a replay, which may be given as a number, as text, or as the result that has it."""
    number = number_of(getattr(replay, "replay_id", replay))
    if number is None:
        raise ReplayNotFound(replay)
    return number


RETENTION = Retention(
    aged=(
        AgedRows("replays", prune_replays, counts("count_prunable_replays")),
        AgedRows("files", delete_unwanted),
    )
)
