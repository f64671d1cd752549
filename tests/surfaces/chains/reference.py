"""The prose of the source document, executed literally: an independent reference for the walk.

Objects with addresses and strings that are appended to, as it is written there, with the departures that the product
names and no others: a timeout counts as a failure; NO_OPERATION succeeds without loading a library; before a run
everything is reset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ran = tuple[int, str, str]


class Job:
    def __init__(self, number: int, forward: str, backward: str, library: str) -> None:
        self.number = number
        self.forward_operation, self.backward_operation = forward, backward
        self.operation_library = library
        self.next_job: Any = "UNLINK"
        self.prev_job: Any = "UNLINK"
        self.state = "NOLIB" if library == "UNINIT" else "NOTYET"


class QueueManager:
    """`perform` says how an operation ends: success, failure or timeout."""

    def __init__(self, queue_library: str, perform: Callable[[int, str], str]) -> None:
        self.queue_library, self._perform = queue_library, perform
        self.operation_direction = "FORWARD"
        self.state = "EMPTY"
        self.job_queue: Any = "UNINIT"
        self.last_job: Any = "UNINIT"
        self.ran: list[Ran] = []

    def enqueue(self, job: Job) -> None:
        assert self.state in ("EMPTY", "READY")
        if job.operation_library == "UNINIT":
            job.operation_library = self.queue_library
            if job.operation_library != "UNINIT":
                job.state = "NOTYET"
        job.next_job = "TAIL"
        if self.state == "EMPTY":
            job.prev_job = "HEAD"
            self.job_queue = self.last_job = job
            self.state = "READY"
        else:
            self.last_job.next_job = job
            job.prev_job = self.last_job
            self.last_job = job

    def run(self) -> None:
        assert self.state == "READY"
        self.state = "RUNNING"
        running_job = self.job_queue
        while True:
            if running_job.state == "NOLIB":
                self.operation_direction = "BACKWARD"
                if running_job.prev_job == "HEAD":
                    break
                running_job = running_job.prev_job
                continue
            if self.operation_direction == "FORWARD":
                ended = self._operate(running_job, running_job.forward_operation)
                running_job.state = {"success": "SUCCESS", "failure": "FAILED", "timeout": "TIMEOUT"}[ended]
                self.ran.append((running_job.number, "FORWARD", running_job.state))
                if ended != "success":
                    self.operation_direction = "BACKWARD"
                    continue
            else:
                ended = self._operate(running_job, running_job.backward_operation)
                running_job.state += ", CANCELED" if ended == "success" else ", FAILED"
                self.ran.append((running_job.number, "BACKWARD", running_job.state))
            if self.operation_direction == "FORWARD":
                if running_job.next_job == "TAIL":
                    break
                running_job = running_job.next_job
            else:
                if running_job.prev_job == "HEAD":
                    break
                running_job = running_job.prev_job
        self.state = "READY"

    def _operate(self, job: Job, operation: str) -> str:
        return "success" if operation == "NO_OPERATION" else self._perform(job.number, self.operation_direction)
