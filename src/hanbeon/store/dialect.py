"""The differences between the two SQL dialects, as words that statements may use.

@rows($1 AS r; seq bigint, fence bigint)   a JSON array of objects, as a relation after FROM or JOIN
@in($1 bigint)                             a JSON array of values: `seq @in($1 bigint)`, or of a row, as text
@lock @lock_skip @lock_skip_job @lock_skip_run @lock_to_delete @lock_schedule
                                           row locks; SQLite's single writer needs none
@share @keep                               row locks for readers: against changes; against deletion
@hidden(column)                            a column that must not lead PostgreSQL's planner to a partial index
@held_until(column)                        the end of a lease, hidden, too; without a lease, long past
@few(r.column)                             always true; makes PostgreSQL's planner assume few rows in r, and start from
                                           them instead of reading a table that it thinks is small
@each[SELECT k.seq …]                      for each row of the relation before it, the seqs of this query as `s`
@has_id(j; e.uid) @id_in(j; $1)            of j, a job: it has this id; its id is in a JSON array
@job_ids                                   a relation with the id and the seq of each job
@with_id                                   after j, a job, in views: a condition on its id finds it
@plain_event_bodies                        keeps the bodies of events from being compressed
@among(relation)                           the seqs of a relation of the same statement: `seq @among(head)`
@prunable_job @prunable_batch @prunable_instance
                                           of j, b or i: older than $1, and may be deleted
@long_left                                 of q, a queue: its owner was deleted before $1
@an_execution                              of a job: it is an execution of a task, by its unique key
@keyed_table                               a table whose columns are all in its key
@random_id                                 a new random text of 16 hexadecimal digits
@job_bytes @node_bytes                     of j: the size of the texts that a list shows, a graph
@built_in                                  of v, a job: its task is ours, and its arguments are shown to nobody
@record_bytes                              of v, a job: the size of the texts of its whole record
@listed_columns @node_columns              of v, a job: its record without the texts that a list, a graph does not show
@bytewise                                  a column whose texts are compared byte by byte
@new_columns @new_types                    the columns that a new job is given, and with their types for @rows; see
@new_values(r) @new_parameters $priority   `job_columns`; their values in r, a row of @rows; their values as parameters,
                                           which follow those with numbers; the one of a column
@claimed_by($2; $3) @claimed_columns       the columns that a claim sets for instance $2 with a lease of $3, and returns
@head_columns                              the same returned, of k, a job that will be claimed; no texts longer than $5
@rank(urgent; priority)                    the order of a job in its lane, by these
@contains(column; $1)                      the text holds the other, in whatever case
@instant(column) @json(column) @member(column; a.b) @ids[SELECT …] @session(id; attempt) @readers_now
                                           in views, for people: an instant, JSON, a member of an object as text, ids as
                                           a list, an attempt's session id, and the clock without a custom function
@precondition                              replaced by `statements.statement`
hanbeon.name                               a table, or the function `hanbeon.now()`, the one seam for time
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hanbeon.domain.access import Scope
from hanbeon.domain.executions import ALL_KEYS, ExecutionType
from hanbeon.domain.job import (
    OF_EXCEPTION,
    RESERVED,
    SESSION_ROOM,
    SESSION_STEP,
    URGENT_RANKS,
    JobRecord,
    OnDependencyFailure,
)
from hanbeon.domain.lifecycle import TERMINAL, UNFINISHED, AttemptStatus, State
from hanbeon.store.job_columns import CLAIMED_COLUMNS, HEAD_COLUMNS, NEW

_ROWS = re.compile(r"@rows\((\$\d+) AS (\w+);([^)]*)\)")
_IN = re.compile(r"@in\(([\w.$]+) (@?\w+)\)")
_HIDDEN = re.compile(r"@hidden\(([\w.]+)\)")
_HELD_UNTIL = re.compile(r"@held_until\(([\w.]+)\)")
_FEW = re.compile(r"@few\(([\w.]+)\)")
_AMONG = re.compile(r"@among\((\w+)\)")
_CLAIMED_BY = re.compile(r"@claimed_by\((\$\d+); (\$\d+)\)")
_EXPRESSION = r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"  # With brackets in it, two deep at the most.
_INSTANT = re.compile("@instant" + _EXPRESSION)
_JSON = re.compile("@json" + _EXPRESSION)
_MEMBER = re.compile(r"@member\(([\w.]+); ([\w.]+)\)")
_IDS = re.compile(r"@ids\[([^]]*)\]")
_EACH = re.compile(r"@each\[([^]]*)\]")
_HAS_ID = re.compile(r"@has_id\((\w+); ([\w.$]+)\)")
_ID_IN = re.compile(r"@id_in\((\w+); (\$\d+)\)")
_RANK = re.compile(r"@rank\(([^;]+); ((?:[^()]|\([^()]*\))+)\)")
_CONTAINS = re.compile(r"@contains\(([\w.]+); (\$\d+)\)")
_SESSION = re.compile(r"@session\(([\w.]+); ([\w.]+)\)")
_NEW_VALUES = re.compile(r"@new_values\((\w+)\)")
_NEW_PARAMETER = re.compile(r"\$([a-z]\w*)")
PARAMETER = re.compile(r"\$(\d+)")
_WORD = re.compile(r"@(\w+)")


def quoted(words: Iterable[str]) -> str:
    """Return texts as a list of SQL literals."""
    return ", ".join(f"'{word}'" for word in words)


def text_sizes(*columns: str) -> str:
    """The size of these texts. Neither database reads a text that is stored apart for its length in bytes."""
    return "(" + " + ".join(f"coalesce(octet_length({column}), 0)" for column in columns) + ")"


def _job_columns(**instead: str) -> str:
    """The columns of a job's record, of v; some of them replaced by a constant."""
    fields = [name for name in JobRecord.__struct_fields__ if name not in OF_EXCEPTION]
    return ", ".join(f"{instead[name]} AS {name}" if name in instead else f"v.{name}" for name in fields)


_LIFECYCLE_WORDS = {
    "states": quoted(State),
    "terminal_states": quoted(state for state in State if state in TERMINAL),
    "unfinished_states": quoted(state for state in State if state in UNFINISHED),
    "attempt_statuses": quoted(status for status in AttemptStatus if status is not AttemptStatus.RUNNING),
    "dependency_policies": quoted(OnDependencyFailure),
    "scopes": quoted(Scope),
    "execution_types": quoted(ExecutionType),
    "job_bytes": text_sizes("j.progress", "j.result", "j.error_message", "j.meta"),
    "record_bytes": text_sizes("v.args", "v.progress", "v.result", "v.error_message"),
    "node_bytes": text_sizes("j.meta"),
    # In two parts: with its dot it would be taken for the name of the schema.
    "built_in": f"substr(v.task, 1, {len(RESERVED)}) = '{RESERVED[:-1]}' || '{RESERVED[-1]}'",
    "listed_columns": _job_columns(args="'{}'"),
    "node_columns": _job_columns(args="'{}'", progress="NULL", result="NULL", error_message="NULL"),
    # Older than $1, and not a dependency of an unfinished job. Dependents are looked up one by one: a join would read
    # all edges whenever the planner thinks that there are few.
    "prunable_job": "j.finished_at IS NOT NULL AND j.finished_at < (SELECT hanbeon.now()) - $1 AND (SELECT 1 "
    "FROM hanbeon.edge AS e WHERE e.dependency = j.seq AND (SELECT d.state FROM hanbeon.job AS d "
    f"WHERE d.seq = e.dependent) IN ({quoted(state for state in State if state in UNFINISHED)}) LIMIT 1) IS NULL",
    "prunable_batch": "b.at < (SELECT hanbeon.now()) - $1",
    "long_left": "q.left_at < (SELECT hanbeon.now()) - $1",
    "an_execution": "unique_key >= '{}' AND unique_key < '{}'".format(*ALL_KEYS),
    "prunable_instance": "i.seen_at < (SELECT hanbeon.now()) - $1",
    "claimed_columns": CLAIMED_COLUMNS,
    "head_columns": HEAD_COLUMNS,
    "new_columns": ", ".join(column.name for column in NEW),
}


class Postgres:
    """PostgreSQL: real row locks, typed JSON records."""

    name = "postgres"
    words = _LIFECYCLE_WORDS | {
        "channel": "hanbeon",
        "identity": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "uuid": "uuid",
        "random_id": "substr(replace(CAST(gen_random_uuid() AS text), '-', ''), 1, 16)",
        "readers_now": "hanbeon.now()",
        "keyed_table": "",
        # See `hanbeon.job_id`.
        "job_uuid": "uuid NOT NULL",
        "job_ids": "hanbeon.job_id",
        # By both columns: from an id to its job, and from a job that was found otherwise to its id.
        "with_id": "JOIN hanbeon.job_id AS ids ON ids.id = j.id AND ids.seq = j.seq",
        # Compressing them takes an eighth of the time that a claim and an end take.
        "plain_event_bodies": "ALTER TABLE hanbeon.event_batch ALTER COLUMN body SET STORAGE EXTERNAL;",
        "lock": "FOR NO KEY UPDATE",
        "lock_skip": "FOR NO KEY UPDATE SKIP LOCKED",
        "lock_skip_job": "FOR NO KEY UPDATE OF j SKIP LOCKED",
        "lock_job": "FOR NO KEY UPDATE OF j",
        "lock_to_delete": "FOR UPDATE SKIP LOCKED",
        "lock_skip_run": "FOR UPDATE OF r SKIP LOCKED",
        "lock_schedule": "FOR UPDATE OF s",
        "bytewise": 'COLLATE "C"',
        "share": "FOR SHARE",
        "keep": "FOR KEY SHARE",
        # Room on each page for the versions a job goes through, and a vacuum that follows a busy queue.
        "hot_table": "WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)",
    }

    @staticmethod
    def rows(parameter: str, alias: str, columns: list[tuple[str, str]]) -> str:
        # As text: the driver of a caller's connection may be configured to encode json parameters itself.
        return f"json_to_recordset({parameter}::text::json) AS {alias}({', '.join(f'{n} {t}' for n, t in columns)})"

    @staticmethod
    def parameter(number: int, kind: str) -> str:
        return f"${number}::{kind}"

    @staticmethod
    def within(parameter: str, kind: str) -> str:
        return f"= ANY(ARRAY(SELECT json_array_elements_text({parameter}::text::json)::{kind}))"

    @staticmethod
    def has_id(job: str, value: str) -> str:
        return f"{job}.seq = (SELECT ids.seq FROM hanbeon.job_id AS ids WHERE ids.id = {value})"

    @staticmethod
    def id_in(job: str, parameter: str) -> str:
        found = f"SELECT ids.seq FROM hanbeon.job_id AS ids WHERE ids.id {Postgres.within(parameter, 'uuid')}"
        return f"{job}.seq = ANY(ARRAY({found}))"

    @staticmethod
    def among(relation: str) -> str:
        return f"= ANY(ARRAY(SELECT seq FROM {relation}))"

    @staticmethod
    def each(query: str) -> str:
        return f"CROSS JOIN LATERAL ({query}) AS s"

    @staticmethod
    def hidden(column: str) -> str:
        return f"({column} || '')"

    @staticmethod
    def few(column: str) -> str:
        return f"{column} = {column} + 0"

    @staticmethod
    def contains(column: str, text: str) -> str:
        return f"strpos(lower({column}), lower({text}::text)) > 0"

    @staticmethod
    def instant(column: str) -> str:
        return f"(timestamptz 'epoch' + {column} * interval '1 microsecond')"

    @staticmethod
    def json(column: str) -> str:
        # Not jsonb, which refuses some texts that are JSON.
        return f"CAST({column} AS json)"

    @staticmethod
    def member(column: str, path: str) -> str:
        return f"CAST({column} AS json) #>> '{{{path.replace('.', ',')}}}'"

    @staticmethod
    def ids(query: str) -> str:
        return f"ARRAY({query})"

    @staticmethod
    def session(job_id: str, attempt: str) -> str:
        text = f"CAST({job_id} AS text)"
        end = f"CAST(CAST('x' || substr({text}, 25) AS bit(48)) AS bigint)"
        end = f"lpad(to_hex(({end} + {attempt} * {SESSION_STEP}) % {SESSION_ROOM}), 12, '0')"
        return f"CAST(substr({text}, 1, 14) || '8' || substr({text}, 16, 9) || {end} AS uuid)"

    @staticmethod
    def finish(sql: str) -> str:
        return sql


class Sqlite:
    """SQLite: one writer at a time, so no row locks; tables carry the schema's name as a prefix."""

    name = "sqlite"
    words = _LIFECYCLE_WORDS | {
        "identity": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "uuid": "text",
        "random_id": "lower(hex(randomblob(8)))",
        # Rows are kept in the key's own tree: a third less to write for each.
        "keyed_table": "WITHOUT ROWID",
        "job_uuid": "text NOT NULL UNIQUE",
        "job_ids": "hanbeon.job",
        "plain_event_bodies": "",
        "with_id": "",
        "readers_now": "CAST((julianday('now') - 2440587.5) * 86400000000 AS integer)",
        "lock": "",
        "lock_skip": "",
        "lock_skip_job": "",
        "lock_job": "",
        "lock_to_delete": "",
        "lock_skip_run": "",
        "lock_schedule": "",
        "bytewise": "",
        "share": "",
        "keep": "",
        "hot_table": "",
    }

    @staticmethod
    def rows(parameter: str, alias: str, columns: list[tuple[str, str]]) -> str:
        fields = ", ".join(f"value->>'{name}' AS {name}" for name, _ in columns)
        return f"(SELECT {fields} FROM json_each({parameter})) AS {alias}"

    @staticmethod
    def parameter(number: int, kind: str) -> str:
        return f"${number}"

    @staticmethod
    def within(parameter: str, kind: str) -> str:
        return f"IN (SELECT value FROM json_each({parameter}))"

    @staticmethod
    def has_id(job: str, value: str) -> str:
        return f"{job}.id = {value}"

    @staticmethod
    def id_in(job: str, parameter: str) -> str:
        return f"{job}.id {Sqlite.within(parameter, 'text')}"

    @staticmethod
    def among(relation: str) -> str:
        return f"IN (SELECT seq FROM {relation})"

    @staticmethod
    def each(query: str) -> str:
        return f"CROSS JOIN hanbeon.job AS s ON s.seq IN ({query})"

    @staticmethod
    def hidden(column: str) -> str:
        return column

    @staticmethod
    def few(column: str) -> str:
        return "true"

    @staticmethod
    def contains(column: str, text: str) -> str:
        return f"instr(lower({column}), lower({text})) > 0"

    @staticmethod
    def instant(column: str) -> str:
        micros = f"(({column}) % 1000000 + 1000000) % 1000000"
        seconds = f"(({column}) - {micros}) / 1000000"
        return f"(strftime('%Y-%m-%dT%H:%M:%S', {seconds}, 'unixepoch') || printf('.%06d+00:00', {micros}))"

    @staticmethod
    def json(column: str) -> str:
        return column

    @staticmethod
    def member(column: str, path: str) -> str:
        return f"json_extract({column}, '$.{path}')"

    @staticmethod
    def ids(query: str) -> str:
        return f"(SELECT json_group_array(id) FROM ({query}))"

    @staticmethod
    def session(job_id: str, attempt: str) -> str:
        digits = [f"(instr('0123456789abcdef', substr({job_id}, {n}, 1)) - 1)" for n in range(25, 37)]
        end = " + ".join(f"({digit} << {4 * (11 - n)})" for n, digit in enumerate(digits))
        end = f"printf('%012x', ({end} + {attempt} * {SESSION_STEP}) % {SESSION_ROOM})"
        return f"(substr({job_id}, 1, 14) || '8' || substr({job_id}, 16, 9) || {end})"

    @staticmethod
    def finish(sql: str) -> str:
        body, returning, columns = sql.partition("RETURNING")
        # SQLite's RETURNING knows only the changed table, and not its alias. The clock does not advance within a
        # statement (see `sqlite.py`), so reading it again gives the value of `n.now`.
        columns = re.sub(r"\b[ej]\.", "", re.sub(r"\bn\.now\b", "hanbeon.now() AS now", columns))
        return re.sub(r"\$(\d+)", r"?\1", body + returning + columns).replace("hanbeon.", "hanbeon_")


Dialect = type[Postgres] | type[Sqlite]


def translate(sql: str, dialect: Dialect) -> str:
    """Return the statement in this database's SQL; an unknown word is a KeyError, never an empty string."""
    sql = re.sub(r"(?m)^\s*--.*\n?", "", sql)
    sql = _ROWS.sub(lambda m: dialect.rows(m[1], m[2], _columns(m[3])), sql)
    sql = _EACH.sub(lambda m: dialect.each(m[1]), sql)
    sql = _IN.sub(lambda m: dialect.within(m[1], m[2]), sql)
    sql = _HAS_ID.sub(lambda m: dialect.has_id(m[1], m[2]), sql)
    sql = _ID_IN.sub(lambda m: dialect.id_in(m[1], m[2]), sql)
    sql = _HIDDEN.sub(lambda m: dialect.hidden(m[1]), sql)
    # Not strict, so the planner cannot infer that there is a lease, and does not use the index of leases.
    sql = _HELD_UNTIL.sub(r"coalesce(\1, 0)", sql)
    sql = _AMONG.sub(lambda m: dialect.among(m[1]), sql)
    sql = _CLAIMED_BY.sub(
        r"state = 'running', fence = j.fence + 1, instance = \1, locked_until = n.now + \2, started_at = n.now, "
        r"deadline_at = n.now + j.timeout_us, finished_at = NULL",
        sql,
    )
    sql = _RANK.sub(rf"(CAST(\2 AS bigint) - CASE WHEN \1 THEN {URGENT_RANKS} ELSE 0 END)", sql)
    sql = _CONTAINS.sub(lambda m: dialect.contains(m[1], m[2]), sql)
    sql = _MEMBER.sub(lambda m: dialect.member(m[1], m[2]), sql)
    sql = _INSTANT.sub(lambda m: dialect.instant(m[1]), sql)
    sql = _JSON.sub(lambda m: dialect.json(m[1]), sql)
    sql = _IDS.sub(lambda m: dialect.ids(m[1].strip()), sql)
    sql = _SESSION.sub(lambda m: dialect.session(m[1], m[2]), sql)
    sql = _FEW.sub(lambda m: dialect.few(m[1]), sql)
    sql = _WORD.sub(lambda m: dialect.words[m[1]], sql)
    return dialect.finish(sql).strip()


def with_new_columns(sql: str, dialect: Dialect) -> str:
    """Return the statement with the lists of a new job's columns; their parameters follow those that have numbers."""
    first = max(map(int, PARAMETER.findall(sql)), default=0) + 1
    given = {column.name: dialect.parameter(first + n, column.type) for n, column in enumerate(NEW)}
    sql = sql.replace("@new_types", ", ".join(f"{column.name} {column.type}" for column in NEW))
    sql = _NEW_VALUES.sub(lambda m: ", ".join(column.value(m[1]) for column in NEW), sql)
    sql = sql.replace("@new_parameters", ", ".join(given.values()))
    return _NEW_PARAMETER.sub(lambda m: given[m[1]], sql)


def _columns(text: str) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind in (column.split() for column in text.split(","))]
