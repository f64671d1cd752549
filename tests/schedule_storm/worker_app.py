"""What the harness starts in each worker process: the App of these runs, with its log on."""

from tests.schedule_storm.tasks import make_worker_app as make_app

__all__ = ["make_app"]
