"""Codes of the reasons why a message of a stream worker could not be used."""

from __future__ import annotations

import enum

UNKNOWN_JOB, INVALID_OUTPUT_PATH = "unknown job", "INVALID_OUTPUT_PATH"
"""Reasons as letters hold them."""


class DeadLetterCode(enum.StrEnum):
    UNKNOWN_JOB = "unknown_job"
    UNREADABLE = "unreadable"
    INVALID_OUTPUT_PATH = "invalid_output_path"
    OTHER = "other"
    """A reason that another program has written, or an unexpected error."""
