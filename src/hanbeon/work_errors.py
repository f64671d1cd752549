"""Errors of work: raised by the body of a task, or by waiting for a job that did not succeed."""

from __future__ import annotations

from hanbeon.error_base import HanbeonError


class WorkFailed(HanbeonError):
    """The work did not succeed."""

    code = "work_failed"

    def __init__(self, message: object = "") -> None:
        Exception.__init__(self, message)  # The task's own words, as they are.


class TaskError(WorkFailed):
    """Raise it in a task to fail the attempt with a failure type of your own; retried like any error."""

    code = "task_error"
    permanent: bool = False

    def __init__(self, message: str = "", *, failure_type: str = "error") -> None:
        super().__init__(message)
        self.failure_type = failure_type


class PermanentError(TaskError):
    """Raise it in a task to fail the job at once, even if retries are left."""

    code = "permanent_error"
    permanent = True


class SoftTimeout(TaskError):
    """Raised into a task's body when its `soft_timeout` has passed: clean up, and return or let it fail."""

    code = "soft_timeout"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"its soft timeout of {seconds:g} s has passed", failure_type="timeout")
        self.seconds = seconds


class SecretUnavailable(PermanentError):
    """A declared secret cannot be read, or one was named that is not declared."""

    code = "secret_unavailable"

    def __init__(self, message: str) -> None:
        super().__init__(message, failure_type="permission_error")


class MessageFailed(TaskError):
    """A message was not accepted; the text is the service's own, masked. `permanent`: a retry would fail, too."""

    code = "message_failed"

    def __init__(self, message: str, *, permanent: bool = False, failure_type: str = "temporary") -> None:
        super().__init__(message, failure_type=failure_type)
        self.permanent = permanent


class JobFailed(WorkFailed):
    """The awaited job failed for good."""

    code = "job_failed"

    def __init__(
        self,
        job_id: str,
        failure_type: str,
        message: str,
        *,
        exception: str | None = None,
        traceback: str | None = None,
    ) -> None:
        """`exception`: the class that the task raised; its `traceback` is a note of this error, too."""
        self.job_id, self.failure_type = job_id, failure_type
        self.exception, self.traceback = exception, traceback
        super().__init__(f"job {job_id} failed ({failure_type}): {message}")
        if traceback is not None:
            self.add_note(f"In the task:\n{traceback}")


class JobCancelled(WorkFailed):
    """The awaited job was cancelled."""

    code = "job_cancelled"

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"job {job_id} was cancelled")


class WaitTimeout(WorkFailed):
    """The job did not finish within the caller's timeout; it continues."""

    code = "wait_timeout"
