"""Exit codes: one per kind of error, defined here and nowhere else."""

from __future__ import annotations

from hanbeon.cli.standard_streams import UNREAD, UNWRITABLE
from hanbeon.errors import Kind

SOUND = 0
FAILED = 1
DEFECT = 70
BLOCKED = 71
INTERRUPTED = 130

EXIT_CODES: dict[Kind, int] = {
    Kind.FAILED: FAILED,
    Kind.INVALID: 2,
    Kind.NOT_FOUND: 3,
    Kind.CONFLICT: 4,
    Kind.UNAVAILABLE: 5,
}

MEANINGS: dict[int, str] = {
    SOUND: "Success. For `verify`: the database is sound.",
    FAILED: "The work did not succeed. For `verify`: the database is not sound; for `doctor`: something is broken.",
    EXIT_CODES[Kind.INVALID]: "The command line or a setting is invalid; nothing was changed.",
    EXIT_CODES[Kind.NOT_FOUND]: "The job, queue, file or other object does not exist.",
    EXIT_CODES[Kind.CONFLICT]: "The object's state does not allow the action.",
    EXIT_CODES[Kind.UNAVAILABLE]: "A dependency is unavailable: the database, its schema, or a server.",
    DEFECT: "A defect in Hanbeon or in the loaded App; the traceback is on stderr.",
    BLOCKED: "The worker ended itself: a task had blocked its event loop past its deadline, or for ten minutes.",
    UNWRITABLE: "The output could not be written, because the disk is full, for example.",
    INTERRUPTED: "Interrupted with Ctrl-C before it was done.",
    UNREAD: "The reader of the output closed the pipe, as `| head` does.",
}
