"""The App that the harness starts in each worker process, with logging on."""

from tests.storm.schedules.tasks import make_worker_app as make_app

__all__ = ["make_app"]
