"""Models of pydantic as arguments and results, validated to the annotated type."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from hanbeon import App, Context
from hanbeon.errors import ArgumentsDoNotFit, NotSerialisable
from hanbeon.testing import TestKit


class Line(BaseModel):
    model_config = ConfigDict(strict=True)

    item: str = Field(alias="article", min_length=1)
    price: Decimal
    at: dt.datetime


class Order(BaseModel):
    number: int
    lines: list[Line] = []


LINE = Line(article="pen", price=Decimal("1.50"), at=dt.datetime(2026, 11, 15, tzinfo=dt.UTC))


async def test_models_arrive_and_return_as_what_they_are(kit: TestKit) -> None:
    @kit.app.task
    async def buy(
        ctx: Context, order: Order, others: list[Line], best: Line | None = None, note: str = "none"
    ) -> dict[str, Line]:
        assert isinstance(order, Order)
        assert all(isinstance(each, Line) for each in [*order.lines, *others])
        assert best is None or isinstance(best, Line)
        return {note: order.lines[0]}

    order = Order(number=7, lines=[LINE])
    plain: dict[str, Any] = {"number": 7, "lines": [{"article": "pen", "price": "1.50", "at": "2026-11-15T00:00:00Z"}]}
    jobs = [
        await kit.app.enqueue(buy.call(order, [LINE], best=LINE, note="a")),
        await kit.app.enqueue(buy, {"order": plain, "others": [], "best": None}),
    ]
    await kit.run_all()
    assert [await job.result(1) for job in jobs] == [{"a": LINE}, {"none": LINE}]


async def test_other_arguments_are_refused_at_the_call(kit: TestKit) -> None:
    @kit.app.task
    async def buy(order: Order) -> None: ...

    with pytest.raises(ArgumentsDoNotFit, match=r"task 'buy': lines\.0\.article: String should have at least 1 char"):
        buy.call(Order.model_construct(number=7, lines=[LINE.model_copy(update={"item": ""})]))
    with pytest.raises(ArgumentsDoNotFit, match="number: Field required"):
        await kit.app.enqueue(buy, {"order": {}})

    @kit.app.task
    async def other(value: Any) -> None: ...

    with pytest.raises(NotSerialisable, match="Encoding objects of type object is unsupported"):
        other.call(object())


def test_the_schema_is_that_of_the_models(app: App) -> None:
    @app.task
    async def buy(order: Order, count: int = 1) -> None: ...

    schema = buy.signature.schema()
    assert schema is not None
    assert schema["properties"]["count"]["default"] == 1
    assert set(schema["$defs"]) == {"Line"}
    assert schema["properties"]["order"]["required"] == ["number"]


def test_pydantic_is_imported_only_where_a_task_has_a_model() -> None:
    code = (
        "import sys\nfrom hanbeon import App\napp = App()\n@app.task\nasync def add(a: int) -> int: ...\n"
        "add.call(1)\nprint('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
