"""`hanbeon schedule` and its commands."""

from __future__ import annotations

from hanbeon.cli.groups import group
from hanbeon.cli.schedule import looking, making, moving, previewing

schedule = group("Run tasks by themselves: make schedules, change, pause and preview them, see their fires.")

schedule.command("list")(looking.list_)
schedule.command()(looking.show)
schedule.command()(making.create)
schedule.command()(making.change)
schedule.command()(moving.pause)
schedule.command()(moving.resume)
schedule.command()(moving.delete)
schedule.command()(previewing.preview)
schedule.command()(looking.fires)
