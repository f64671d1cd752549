"""The App of the server, whose settings are in the environment: `hanbeon serve --app tests.storm.chaos.served:app`."""

import os

from tests.storm.chaos.tasks import make_app

app = make_app(os.environ["HANBEON_DATABASE_URL"])
