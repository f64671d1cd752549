"""A real Django and a real Flask, as docs/guides.md shows them, each in a process: Django has one set of settings."""

import subprocess
import sys
import textwrap

import pytest

from hanbeon.surfaces.store_parts import migrate

_DJANGO = """
import sys
from urllib.parse import urlsplit
import django
from django.conf import settings
from django.http import HttpResponse
from django.urls import path

url = sys.argv[1]
parts = urlsplit(url)
settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="test",
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": parts.path[1:], "USER": parts.username,
        "PASSWORD": parts.password, "HOST": parts.hostname, "PORT": parts.port,
    }},
)
django.setup()

from django.db import connection, models, transaction
from hanbeon import App, State, SyncApp
from hanbeon.errors import NotInTransaction

app = App(url)
jobs = SyncApp(app)

@app.task
def receipt(order: int) -> str:
    return f"receipt for {order}"

class Order(models.Model):
    total = models.IntegerField()
    class Meta:
        app_label = "shop"

def place(request):
    with transaction.atomic():
        order = Order.objects.create(total=int(request.POST["total"]))
        job = jobs.enqueue(receipt.call(order.pk), transaction=connection)
        if order.total < 0:
            raise ValueError("negative")
    return HttpResponse(job.id)

urlpatterns = [path("orders", place)]

with connection.schema_editor() as editor:
    editor.create_model(Order)

from django.test import Client
client = Client(raise_request_exception=False)
answer = client.post("/orders", {"total": "5"})
assert answer.status_code == 200, answer.content
assert jobs.job(answer.content.decode()).state() is State.READY
assert client.post("/orders", {"total": "-5"}).status_code == 500
assert (Order.objects.count(), jobs.counts()[State.READY]) == (1, 1)

connection.ensure_connection()
for each in (connection, connection.connection):
    try:
        jobs.enqueue(receipt.call(1), transaction=each)
    except NotInTransaction as error:
        assert "with transaction.atomic():" in str(error), error
    else:
        raise AssertionError("outside of atomic(), Django commits every statement at once")
connection.close()
with transaction.atomic():
    try:
        with transaction.atomic():  # A savepoint of Django's.
            jobs.enqueue(receipt.call(2), transaction=connection.connection)
            raise KeyError
    except KeyError:
        pass
    jobs.enqueue(receipt.call(3), transaction=connection)
assert jobs.counts()[State.READY] == 2
connection.close()
jobs.close()
print("fine")
"""

_FLASK = """
import sys
from flask import Flask, request
from hanbeon import App, State, SyncApp

app = App(sys.argv[1])
jobs = SyncApp(app)
web = Flask(__name__)

@app.task
def resize(image: str) -> str:
    return image

@web.post("/images")
def upload():
    return {"job": jobs.enqueue(resize.call(request.form["name"])).id}, 202

@web.get("/images/<job_id>")
def show(job_id):
    return {"state": jobs.job(job_id).state()}

client = web.test_client()
answer = client.post("/images", data={"name": "cat.png"})
assert answer.status_code == 202
assert client.get(f"/images/{answer.json['job']}").json == {"state": "ready"}
jobs.close()
print("fine")
"""


def run(script: str, url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), url], check=False, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


async def test_django(postgres_url: str) -> None:
    pytest.importorskip("django")
    await migrate(postgres_url)
    run(_DJANGO, postgres_url)


async def test_flask(database_url: str) -> None:
    pytest.importorskip("flask")
    await migrate(database_url)
    run(_FLASK, database_url)
