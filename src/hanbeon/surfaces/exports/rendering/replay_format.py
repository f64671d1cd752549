"""The replay format, version 1: a header, records in the order of time, and an end, each a line of JSON."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.errors import ReplayInvalid
from hanbeon.rule import Rule

FORMAT, VERSION = "hanbeon-replay", 1
LINE_BYTES = 32_768
DURATION_MOST_MS = 6 * 3_600_000
RECORDS_A_SECOND = 200
ACTORS_MOST, TEAMS_MOST = 64, 8
_FIELD_MOST = 10_000
_T = TypeVar("_T")
_AT = re.compile(r"(?P<rule>.*?)(?: - at `\$\.?(?P<field>.*)`)?", re.DOTALL)

Id = Annotated[str, Meta(min_length=1, max_length=40)]
Text = Annotated[str, Meta(max_length=200)]
Color = Annotated[str, Meta(pattern="^#[0-9a-fA-F]{6}$", max_length=7)]
Millis = Annotated[int, Meta(ge=0, le=DURATION_MOST_MS)]
Length = Annotated[float, Meta(gt=0, le=_FIELD_MOST)]


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rectangle in which everything happens; positions are from 0 to width and height, from the top left."""

    width: Length
    height: Length


class Team(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Id
    name: Text
    color: Color


class Actor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that moves: a player of a team, or a ball of none."""

    id: Id
    team: Id | None = None
    name: Text = ""
    number: Annotated[int, Meta(ge=0, le=999)] | None = None


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: Literal["hanbeon-replay"]
    version: Literal[1]
    field: Field
    actors: Annotated[list[Actor], Meta(min_length=1, max_length=ACTORS_MOST)]
    teams: Annotated[list[Team], Meta(max_length=TEAMS_MOST)] = []
    title: Text = ""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Any other line. `t` is in milliseconds from the start, and never less than on the line before.

    `p`: positions of actors, who move in a straight line from one to the next. `event` and `text`: something that
    happened; the text is shown. `score`: points by team from now on. `end`: the last line, whose `t` is the duration.
    """

    t: Millis
    p: dict[str, tuple[float, float]] | UnsetType = UNSET
    event: Id | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    team: Id | UnsetType = UNSET
    actor: Id | UnsetType = UNSET
    score: dict[str, Annotated[int, Meta(ge=0, le=9_999)]] | UnsetType = UNSET
    end: Literal[True] | UnsetType = UNSET


class _Version(msgspec.Struct, frozen=True):
    format: str = ""
    version: int = 0


_versions = msgspec.json.Decoder(_Version)
_headers = msgspec.json.Decoder(Header)
_records = msgspec.json.Decoder(Record)


class LineReader:
    """Decodes and checks one line after another; keeps nothing of a line but its time."""

    def __init__(self) -> None:
        self.line = 0
        self.header: Header | None = None
        self.duration_ms: int | None = None
        """Known once the last line was read."""
        self._t = 0
        self._second, self._records = 0, 0
        self._teams: frozenset[str] = frozenset()
        self._actors: frozenset[str] = frozenset()

    def read(self, line: bytes) -> Record | None:
        """Return the record of the next line; None for the header. Raises ReplayInvalid, with the line and field."""
        self.line += 1
        if len(line) > LINE_BYTES:
            raise self.invalid("", Rule("replay_line_too_long", most=LINE_BYTES, got=len(line)))
        if self.header is None:
            self.header = self._header(line)
            return None
        if self.duration_ms is not None:
            raise self.invalid("end", Rule("replay_after_end"))
        record: Record = self._decoded(_records, line)
        self._check(record, self.header)
        if record.end is not UNSET:
            self.duration_ms = record.t
        return record

    def finish(self) -> int:
        """Return the duration, after the last line. A file that was cut off is invalid."""
        if self.header is None:
            raise self.invalid("", Rule("replay_empty"))
        if self.duration_ms is None:
            raise self.invalid("end", Rule("replay_cut"))
        if not self.duration_ms:
            raise self.invalid("t", Rule("replay_without_time"))
        return self.duration_ms

    def invalid(self, field: str, rule: Rule) -> ReplayInvalid:
        return ReplayInvalid(self.line, field, rule)

    def _header(self, line: bytes) -> Header:
        version: _Version = self._decoded(_versions, line)
        if version.format != FORMAT:
            raise self.invalid("format", Rule("replay_format", format=repr(FORMAT), got=repr(version.format[:40])))
        if version.version != VERSION:
            raise self.invalid("version", Rule("replay_version", version=VERSION, got=version.version))
        header: Header = self._decoded(_headers, line)
        self._teams = self._ids("teams", [team.id for team in header.teams])
        self._actors = self._ids("actors", [actor.id for actor in header.actors])
        for actor in header.actors:
            if actor.team is not None:
                self._known("actors", actor.team, self._teams, "team")
        return header

    def _ids(self, field: str, ids: list[str]) -> frozenset[str]:
        double = next((each for each in ids if ids.count(each) > 1), None)
        if double is not None:
            raise self.invalid(field, Rule("replay_id_twice", got=repr(double)))
        return frozenset(ids)

    def _check(self, record: Record, header: Header) -> None:
        if record.t < self._t:
            raise self.invalid("t", Rule("replay_time_backwards", previous=self._t, got=record.t))
        self._t = record.t
        second = record.t // 1_000
        self._records = self._records + 1 if second == self._second else 1
        self._second = second
        if self._records > RECORDS_A_SECOND:
            raise self.invalid("t", Rule("replay_too_dense", most=RECORDS_A_SECOND))
        if record.p is not UNSET:
            width, height = header.field.width, header.field.height
            for actor, (x, y) in record.p.items():
                self._known("p", actor, self._actors, "actor")
                if not (-width <= x <= 2 * width and -height <= y <= 2 * height):
                    raise self.invalid(f"p.{actor}", Rule("replay_far_away", got=str([x, y])))
        if record.team is not UNSET:
            self._known("team", record.team, self._teams, "team")
        if record.actor is not UNSET:
            self._known("actor", record.actor, self._actors, "actor")
        if record.score is not UNSET:
            for team in record.score:
                self._known("score", team, self._teams, "team")

    def _known(self, field: str, name: str, known: frozenset[str], kind: str) -> None:
        if name not in known:
            raise self.invalid(field, Rule("replay_unknown_name", kind=kind, got=repr(name[:40])))

    def _decoded(self, decoder: msgspec.json.Decoder[_T], line: bytes) -> _T:
        try:
            return decoder.decode(line)
        except msgspec.ValidationError as error:
            found = _AT.fullmatch(str(error))
            rule, field = (found["rule"], found["field"] or "") if found else (str(error), "")
            raise self.invalid(field, Rule("foreign_text", text=rule.replace("Expected", "must be", 1))) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self.invalid("", Rule("replay_not_json", error=error)) from None
