"""`[secrets]` of `hanbeon.toml`."""

from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.outbound.secrets import SecretSource
from tests.config.files import read, refused, write


def test_secrets_are_declared_and_never_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SMTP_PASSWORD", "geheim")
    text = """
        [secrets]
        smtp = { env = "TEST_SMTP_PASSWORD" }
        slack-team = { file = "slack" }
        absolute = { file = "/run/secrets/x" }
        api = { env = "K", hosts = ["API.Example.org", "*.example.org:8443", "[::1]", "slack://"], use = "http" }
        """
    file = read(folder, text)
    assert file.secrets == {
        "smtp": SecretSource(env="TEST_SMTP_PASSWORD"),
        "slack-team": SecretSource(file=str(folder / "slack")),
        "absolute": SecretSource(file="/run/secrets/x"),
        "api": SecretSource(
            env="K", hosts=("api.example.org", "*.example.org:8443", "[::1]", "slack://"), use=("http",)
        ),
    }
    app = App.from_file(write(folder, text))
    assert list(app.secrets.names) == ["absolute", "api", "slack-team", "smtp"]
    assert app.messenger.secrets.read("smtp") == "geheim"
    assert "geheim" not in f"{file} {app.settings} {app.secrets}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('smtp = "geheim"', "secrets.smtp: must be a table, got str"),
        ("smtp = 4711", "secrets.smtp: must be a table, got int"),
        ("smtp = {}", "secrets.smtp: must have either env or file"),
        ('smtp = { env = "A", file = "b" }', "secrets.smtp: must have either env or file"),
        ('smtp = { evn = "A" }', "secrets.smtp.evn: a secret has no such option; did you mean 'env'?"),
        ('smtp = { value = "geheim" }', "secrets.smtp.value: a secret has no such option"),
        ("smtp = { env = 7 }", "secrets.smtp.env: must be text like SMTP_PASSWORD, got 7"),
        ('smtp = { env = "A", hosts = ["https://a.example"] }', "secrets.smtp.hosts: must be hosts, got 'https"),
        ('smtp = { env = "A", hosts = ["a.*.example"] }', "secrets.smtp.hosts: must be hosts"),
        ('smtp = { env = "A", hosts = [] }', "secrets.smtp.hosts: must be a list of hosts"),
        ('smtp = { env = "A", use = ["mail"] }', "secrets.smtp.use: must be a list of http and target"),
        ('"1st" = { env = "A" }', "must be a name of at most 64 letters"),
        ('"a.b" = { env = "A" }', "must be a name of at most 64 letters"),
    ],
)
def test_invalid_secrets_are_refused_without_their_values(folder: Path, line: str, message: str) -> None:
    error = refused(folder, f"[secrets]\n{line}")
    assert message in str(error)
    assert "geheim" not in str(error)
    assert "line 2" in str(error)
