"""Operations of schedules, executions and tasks, as data for the server, the client and the docs."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.errors import Changed, ExecutionNotFound, ExecutionUnfinished, TaskNotFound, WrongState
from hanbeon.surfaces.operation import ClientCall, Operation
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.errors import ScheduleDeclared, ScheduleNameTaken, ScheduleNotFound
from hanbeon.surfaces.schedules.vocabulary import FINISHED
from hanbeon.surfaces.schema import Explanation

_TASKS = "/api/tasks"
_TASK = f"{_TASKS}/{{task_id}}"
_EXECUTIONS = "/api/executions"
_EXECUTION = f"{_EXECUTIONS}/{{id}}"
_SCHEDULES = "/api/schedules"
_SCHEDULE = f"{_SCHEDULES}/{{id}}"

OPERATIONS = (
    Operation(
        *("GET", _TASKS, Need.READ, "tasks", "List registered tasks, a page at a time."),
        request=schemas.TaskQuery,
        responses={200: schemas.TaskPage},
    ),
    Operation(
        *("GET", _TASK, Need.READ, "task", "Show a task."),
        responses={200: schemas.Task},
        errors=(TaskNotFound,),
    ),
    Operation(
        *("POST", f"{_TASK}/executions", Need.WRITE, "run", "Run a task now, unless it has an unfinished execution."),
        request=schemas.ManualRun,
        body_optional=True,
        responses={201: schemas.Execution},
        creates=True,
        by=True,
        location=f"{_EXECUTIONS}/{{result.execution_id}}",
        errors=(TaskNotFound, ExecutionUnfinished),
    ),
    Operation(
        *("GET", _EXECUTIONS, Need.READ, "executions", "List executions, newest first."),
        request=schemas.ExecutionQuery,
        responses={200: schemas.ExecutionPage},
    ),
    Operation(
        *("GET", _EXECUTION, Need.READ, "execution", "Show an execution."),
        responses={200: schemas.Execution},
        errors=(ExecutionNotFound,),
        client=ClientCall(ended=lambda execution: execution.status in FINISHED),
    ),
    Operation(
        *("GET", f"{_EXECUTION}/explain", Need.READ, "explain", "Explain why an execution is not running."),
        responses={200: Explanation},
        errors=(ExecutionNotFound,),
    ),
    Operation(
        *(
            "POST",
            f"{_EXECUTION}/cancel",
            Need.WRITE,
            "cancel",
            "Cancel an execution: 200 once cancelled, 202 while it stops.",
        ),
        responses={200: schemas.Execution, 202: schemas.Execution},
        idempotent=True,
        result=schemas.CancelAnswer,
        part="execution",
        accepted="stopping",
        errors=(ExecutionNotFound, WrongState),
    ),
    Operation(
        *("POST", _SCHEDULES, Need.WRITE, "create", "Create a schedule of a known task."),
        request=schemas.NewSchedule,
        responses={201: schemas.Schedule},
        creates=True,
        by=True,
        versioned=True,
        location=f"{_SCHEDULES}/{{result.id}}",
        links={"id": "$response.body#/id"},
        errors=(ScheduleNameTaken,),
    ),
    Operation(
        *("GET", _SCHEDULES, Need.READ, "list", "List schedules, a page at a time."),
        request=schemas.ScheduleQuery,
        responses={200: schemas.SchedulePage},
    ),
    # Before the paths with an id in this place.
    Operation(
        *(
            "POST",
            f"{_SCHEDULES}/preview",
            Need.READ,
            "preview_of",
            "Preview the fires of a schedule before creating it.",
        ),
        request=schemas.PreviewRequest,
        responses={200: schemas.Preview},
        idempotent=True,
        client=ClientCall("schedules", "preview"),
        wrap="fires",
    ),
    Operation(
        *("GET", _SCHEDULE, Need.READ, "get", "Show a schedule."),
        responses={200: schemas.Schedule},
        versioned=True,
        errors=(ScheduleNotFound,),
    ),
    Operation(
        *("PATCH", _SCHEDULE, Need.WRITE, "change", "Change fields of a schedule; in force at once."),
        request=schemas.ScheduleChange,
        responses={200: schemas.Schedule},
        versioned=True,
        errors=(ScheduleNotFound, ScheduleNameTaken, ScheduleDeclared),
    ),
    Operation(
        *("DELETE", _SCHEDULE, Need.WRITE, "delete", "Delete a schedule; its executions stay until they are pruned."),
        responses={204: None},
        takes_version=True,
        errors=(ScheduleNotFound, Changed),
    ),
    Operation(
        *("POST", f"{_SCHEDULE}/pause", Need.WRITE, "pause", "Stop firing until the schedule is resumed."),
        responses={200: schemas.Schedule},
        idempotent=True,
        versioned=True,
        errors=(ScheduleNotFound,),
    ),
    Operation(
        *("POST", f"{_SCHEDULE}/resume", Need.WRITE, "resume", "Continue with the next fire after now."),
        responses={200: schemas.Schedule},
        idempotent=True,
        versioned=True,
        errors=(ScheduleNotFound,),
    ),
    Operation(
        *("GET", f"{_SCHEDULE}/preview", Need.READ, "preview", "Preview the next fires, with notes on clock changes."),
        request=schemas.PreviewQuery,
        responses={200: schemas.Preview},
        wrap="fires",
        errors=(ScheduleNotFound,),
    ),
    Operation(
        *("GET", f"{_SCHEDULE}/fires", Need.READ, "fires", "List the outcomes of past fires, newest first."),
        request=schemas.FireQuery,
        responses={200: schemas.FirePage},
        errors=(ScheduleNotFound,),
    ),
)
