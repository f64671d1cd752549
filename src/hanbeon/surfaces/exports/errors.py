"""Errors of replays and their exports."""

from __future__ import annotations

from hanbeon.error_base import Conflict, InvalidInput, NotFound
from hanbeon.rule import Rule


class ReplayInvalid(InvalidInput):
    """The file is not a replay that this release can read."""

    code = "replay_invalid"

    def __init__(self, line: int, name: str, rule: Rule) -> None:
        super().__init__(Rule("replay_line", line=line, name=name, rule=rule), field="file")
        self.line = line


class ReplayTooLarge(InvalidInput):
    """The file is larger than uploads may be."""

    code = "replay_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(Rule("replay_too_large", most=limit), field="file")


class ReplayQuotaExceeded(InvalidInput):
    """The user's replays would take more space than one user may have."""

    code = "replay_quota_exceeded"

    def __init__(self, limit: int, used: int) -> None:
        super().__init__(Rule("replay_quota_exceeded", most=limit, used=used), field="file")


class ReplayNotFound(NotFound):
    """The user has no replay with that number."""

    code = "replay_not_found"

    def __init__(self, replay_id: object) -> None:
        super().__init__(Rule("replay_not_found", replay=repr(str(replay_id)[:40])))


class ReplayInUse(Conflict):
    """An export of the replay is unfinished."""

    code = "replay_in_use"

    def __init__(self, replay_id: int, export_id: int) -> None:
        super().__init__(Rule("replay_in_use", export=export_id, replay=replay_id))


class ExportNotFound(NotFound):
    """The user has no export with that number."""

    code = "export_not_found"

    def __init__(self, export_id: object) -> None:
        super().__init__(Rule("export_not_found", export=repr(str(export_id)[:40])))


class ExportEnded(Conflict):
    """The export has ended and cannot be cancelled."""

    code = "export_ended"

    def __init__(self, export_id: int, status: str) -> None:
        super().__init__(Rule("export_ended", export=export_id, state=status))


class ResultNotReady(Conflict):
    """The export has not succeeded, so there is no file."""

    code = "result_not_ready"

    def __init__(self, export_id: int, status: str) -> None:
        super().__init__(Rule("result_not_ready", export=export_id, state=status))


class ResultGone(NotFound):
    """The file of the export is gone."""

    code = "result_gone"

    def __init__(self, export_id: int) -> None:
        super().__init__(Rule("result_gone", export=export_id))


class InvalidOutputPath(InvalidInput):
    """The path of a result is outside the export root."""

    code = "invalid_output_path"

    def __init__(self, why: Rule) -> None:
        self.why = str(why)
        super().__init__(Rule("output_path", why=why), field="resultUri")
