"""The columns of a job, declared once: those that a new job is given, and those that a claim returns.

From here come the lists in the statements (`@new_…`, `@claimed_columns`, `@head_columns`), the parameters of a single
enqueue, the rows of a batch, the lines of COPY and the conversion of claimed rows. Another column needs a line here, in
the migration, and in `NewJob` or `Claimed`, which say what it is for.

The columns that a rule computes (`state`, `rank`, `run_at`, `created_at`, `blocked`, `recount`) are where the rule is:
in the statements that create jobs, and in `bulk`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from hanbeon.domain.job import Claimed, LaneName, NewJob, OnDependencyFailure
from hanbeon.domain.retry import RetryPolicy
from hanbeon.store.records import policy_of, policy_text


class NewColumn(NamedTuple):
    """A column that a new job is given."""

    name: str
    type: str
    """Its SQL type, in a row set and as a parameter."""
    default: Any = None
    """The value for a row of a JSON row set that lacks it."""
    attribute: str | None = None
    """Where `NewJob` has it, unless under its name."""

    def value(self, row: str) -> str:
        """Return its value of a row of a JSON row set, in SQL."""
        return f"{row}.{self.name}" if self.default is None else f"coalesce({row}.{self.name}, {self._literal})"

    @property
    def _literal(self) -> str:
        return f"'{self.default}'" if isinstance(self.default, str) else str(self.default).lower()


# Of these a job has something else than what is stored; `new_values` is given them.
_DERIVED = (
    NewColumn("lane", "bigint"),
    NewColumn("policy", "text", policy_text(RetryPolicy())),
    NewColumn("digest", "text"),
)
_OWN = (
    NewColumn("id", "@uuid"),
    NewColumn("urgent", "boolean", False),
    NewColumn("priority", "integer", 0),
    NewColumn("on_dependency_failure", "text", OnDependencyFailure.BLOCK.value, "on_dependency_failure._value_"),
    NewColumn("timeout_us", "bigint"),
    NewColumn("args", "text"),
    NewColumn("idempotency_key", "text"),
    NewColumn("unique_key", "text"),
    NewColumn("work_item", "text"),
    NewColumn("meta", "text"),
)
NEW = _DERIVED + _OWN
_own: Callable[[NewJob], tuple[Any, ...]] = attrgetter(*(each.attribute or each.name for each in _OWN))


def new_values(job: NewJob, lane: int, policy: str, digest: str) -> tuple[Any, ...]:
    """Return the values of a new job, in the order of `NEW`."""
    return lane, policy, digest, *_own(job)


# The fields of `Claimed` that are columns come first, in the order of the row; the policy is the last of them.
_CLAIMED = Claimed.__struct_fields__[: Claimed.__struct_fields__.index("policy") + 1]
_BEFORE_POLICY = len(_CLAIMED) - 1
AFTER_CLAIMED = len(_CLAIMED)
"""The place in a claimed row of what follows the columns of `Claimed`."""
_IN_A_ROW = {"id": "CAST(j.id AS text) AS id"}
# Of a job that is about to be claimed, what it will have then; the instant is set later.
_IN_A_HEAD = {
    "fence": "k.fence + 1",
    "started_at": "NULL",
    **{name: f"CASE WHEN length(k.{name}) <= $5 THEN k.{name} END" for name in ("args", "progress")},
}
CLAIMED_COLUMNS = ", ".join(_IN_A_ROW.get(name, f"j.{name}") for name in _CLAIMED) + ", j.rank, j.created_at, j.free_at"
HEAD_COLUMNS = ", ".join(_IN_A_HEAD.get(name, f"k.{name}") for name in _CLAIMED)
SEQ, STARTED_AT = _CLAIMED.index("seq"), _CLAIMED.index("started_at")
"""Their places in a claimed row."""
_claimed: Callable[..., Claimed] = Claimed


def claimed(row: Sequence[Any], name: LaneName, instance: int) -> Claimed:
    """Convert a row by the order of `@claimed_columns` or `@head_columns`: by their names it takes twice as long."""
    policy = policy_of(row[_BEFORE_POLICY])
    return _claimed(*row[:_BEFORE_POLICY], policy, name.queue, name.task, name.role, instance)
