"""What the process answers: one exit code per kind of error, and nowhere else."""

from __future__ import annotations

from hanbeon.errors import Kind

SOUND = 0
FAILED = 1
DEFECT = 70
INTERRUPTED = 130
UNREAD = 141

EXIT_CODES: dict[Kind, int] = {
    Kind.FAILED: FAILED,
    Kind.INVALID: 2,
    Kind.NOT_FOUND: 3,
    Kind.CONFLICT: 4,
    Kind.UNAVAILABLE: 5,
}

MEANINGS: dict[int, str] = {
    SOUND: "Done. For `verify`: the database is sound.",
    FAILED: "The work did not succeed. For `verify`: the database is not sound.",
    EXIT_CODES[Kind.INVALID]: "The command line or a setting does not fit; nothing was changed.",
    EXIT_CODES[Kind.NOT_FOUND]: "There is no such thing.",
    EXIT_CODES[Kind.CONFLICT]: "The state of the thing forbids it.",
    EXIT_CODES[Kind.UNAVAILABLE]: "Something it needs cannot be used now: the database, its schema, a server.",
    DEFECT: "A defect in Hanbeon or in the App that was loaded; the traceback is on stderr.",
    INTERRUPTED: "Stopped with Ctrl-C before it was done.",
    UNREAD: "Whoever read the output stopped reading, as `| head` does.",
}
