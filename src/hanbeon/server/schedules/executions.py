"""Tasks, and their executions."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.domain.schedules.history import ExecutionType
from hanbeon.errors import ExecutionNotFound, ExecutionUnfinished, TaskNotFound, WrongState
from hanbeon.server.offices.bodies import Cursor, JobId, Name, PageSize
from hanbeon.server.operation import Operation, Reply
from hanbeon.server.request import ApiRequest
from hanbeon.server.schedules import bodies
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus

TASKS = "/api/tasks"
TASK = f"{TASKS}/{{task_id}}"
EXECUTIONS = "/api/executions"
EXECUTION = f"{EXECUTIONS}/{{id}}"


def operations(schedules: Schedules) -> list[Operation]:
    async def tasks(ask: ApiRequest) -> Reply:
        return Reply(await schedules.tasks(**ask.query))

    async def task(ask: ApiRequest) -> Reply:
        return Reply(await schedules.task(ask.path("task_id")))

    async def run(ask: ApiRequest) -> Reply:
        told = await ask.body({})
        made = await schedules.run(ask.path("task_id"), told, by=ask.who.user, execution_id=ask.id_of())
        return Reply(made, 201, {"Location": f"{EXECUTIONS}/{made.execution_id}"})

    async def list_all(ask: ApiRequest) -> Reply:
        return Reply(await schedules.executions(**ask.query))

    async def get(ask: ApiRequest) -> Reply:
        return Reply(await schedules.execution(ask.path("id")))

    async def explain(ask: ApiRequest) -> Reply:
        return Reply(await schedules.explain(ask.path("id")))

    async def cancel(ask: ApiRequest) -> Reply:
        answer = await schedules.cancel(ask.path("id"))
        return Reply(answer.execution, 202 if answer.stopping else 200)

    return [
        Operation(
            *("GET", TASKS, Need.READ, tasks, "List the tasks that somebody has registered, a page at a time."),
            query={"cursor": Name, "limit": PageSize},
            shapes={200: schemas.TaskPage},
        ),
        Operation(
            *("GET", TASK, Need.READ, task, "Show a task."),
            shapes={200: schemas.Task},
            refuses=(TaskNotFound,),
        ),
        Operation(
            *("POST", f"{TASK}/executions", Need.WRITE, run, "Run a task now, unless it has an unfinished execution."),
            body=bodies.RunBody,
            may_be_empty=True,
            shapes={201: schemas.Execution},
            creates=True,
            refuses=(TaskNotFound, ExecutionUnfinished),
        ),
        Operation(
            *("GET", EXECUTIONS, Need.READ, list_all, "List executions, the newest first."),
            query={
                "task_id": Name,
                "status": list[ExecutionStatus],
                "type": ExecutionType,
                "schedule_id": JobId,
                "cursor": Cursor,
                "limit": PageSize,
            },
            shapes={200: schemas.ExecutionPage},
        ),
        Operation(
            *("GET", EXECUTION, Need.READ, get, "Show an execution."),
            shapes={200: schemas.Execution},
            refuses=(ExecutionNotFound,),
        ),
        Operation(
            *("GET", f"{EXECUTION}/explain", Need.READ, explain, "Why it is not running."),
            shapes={200: Explanation},
            refuses=(ExecutionNotFound,),
        ),
        Operation(
            *(
                "POST",
                f"{EXECUTION}/cancel",
                Need.WRITE,
                cancel,
                "Cancel it: 200 when that is done, 202 while it stops.",
            ),
            shapes={200: schemas.Execution, 202: schemas.Execution},
            refuses=(ExecutionNotFound, WrongState),
        ),
    ]
