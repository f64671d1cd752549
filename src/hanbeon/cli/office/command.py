"""`hanbeon office` and its commands."""

from __future__ import annotations

from hanbeon.cli.groups import group
from hanbeon.cli.office import looking, making, moving, trying

office = group("Make offices and look after them: their jobs, config, statistics and events.")
config = group("Show or change how an office runs its jobs.")

office.command("list")(looking.list_)
office.command()(making.create)
office.command()(looking.show)
office.command()(making.change)
office.add_typer(config, name="config")
config.command("show")(looking.show_config)
config.command("set")(making.set_config)
office.command()(looking.stats)
office.command()(looking.jobs)
office.command()(making.add)
office.command()(looking.events)
office.command()(moving.process)
office.command("cancel-all")(moving.cancel_all)
office.command()(moving.delete)
office.command("test-webhook")(trying.try_webhook)
