"""Addresses of people are shown without what would let others send in their name."""

import subprocess
import sys

import pytest

from hanbeon.errors import InvalidInput
from hanbeon.outbound.targets import check_scheme, masked, without_secrets
from hanbeon.settings import Settings

ALLOWED = Settings().message_schemes


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("mailtos://ada:p@ss:w/@mail.example.org", "mailtos://****"),
        ("mailtos://ada:p@ss@mail.example.org:587?to=x", "mailtos://ada:****@mail.example.org:587?****"),
        ("mailtos://ada:12?geheim@mail.example.org", "mailtos://****"),
        ("json://[2001:db8::1]:8080/secret", "json://[2001:db8::1]:8080/****"),
        ("mailto://someone@example.org", "mailto://someone@example.org"),
        ("JSON://example.org/secret/path", "json://example.org/****"),
        ("json://:geheim@example.org", "json://:****@example.org"),
        ("slack://a/b/c/#team", "slack://****"),
        ("tgram://123:abc/456", "tgram://****"),
        ("json://exa\x00mple", "json://****"),
        ("nothing", "nothing://****"),
    ],
)
def test_values_as_shown(url: str, shown: str) -> None:
    assert masked(url).startswith(shown)
    for secret in ("p@ss", "ss:w", "geheim", "secret", "abc"):
        assert secret not in masked(url)


def test_masks_urls_in_messages_of_libraries() -> None:
    url = "mailtos://ada:p4ss@mail.example.org/x?pass=geheim&to=team@example.org"
    said = f"cannot log in to mail.example.org as ada with p4ss ({url}) geheim"
    assert without_secrets(said, url) == (
        "cannot log in to mail.example.org as ada with **** (mailtos://ada:****@mail.example.org/****?****) ****"
    )
    assert (
        without_secrets("POST https://hooks/TokenA/TokenB", "slack://TokenA/TokenB") == "POST https://hooks/****/****"
    )


@pytest.mark.parametrize("url", ["syslog://x", "file:///etc/passwd", "dbus://", "rsyslog://example.org", "emby://x"])
def test_kinds_that_were_not_allowed_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="message_schemes"):
        check_scheme(url, ALLOWED, "target")
    check_scheme(url, f"{ALLOWED} {url.partition('://')[0]}", "target")


def test_allowed_methods_are_known_to_the_http_library() -> None:
    """In a process of its own: it loads every one of them."""
    program = (
        "import apprise; print(*(name for each in apprise.Apprise().details()['schemas'] "
        "for key in ('protocols', 'secure_protocols') for name in each[key] or ()))"
    )
    known = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert set(ALLOWED.split()) <= set(known)
