"""Addresses of people are shown without what would let others send in their name."""

import subprocess
import sys

import pytest

from hanbeon.domain.masks import masked_address
from hanbeon.errors import InvalidInput, MessageFailed
from hanbeon.outbound.messages import check_url, send_message
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


_REFUSED = [
    ("slack://TokenA1234/TokenB1234/TokenC12345/?template=/etc/passwd", "template"),
    ("discord://1234567890/abcdefghijk?TEMPLATE=%2Fetc%2Fpasswd", "template"),
    ("workflows://example.org/workflow/signature?template=file:///etc/passwd", "template"),
    ("tgram://123456789:abcdefg_hijklmnop/12315544/?template=x", "template"),
    ("mailtos://ada:pw@example.org?pgp=yes", "pgp"),
    ("mailtos://ada:pw@example.org?pgpprv=/keys/private.asc", "pgpprv"),
    ("mailto://ada:pw@example.org?to=x@example.org&pgppub=/etc/passwd", "pgppub"),
    ("ntfy://example.org/topic?attach=/etc/passwd", "attach"),
    ("forms://example.org/?attach-as=x", "attach-as"),
    ("json://example.org/?unheard-of=1", "unheard-of"),
]


@pytest.mark.parametrize(("url", "parameter"), _REFUSED)
def test_parameters_that_may_read_files_are_rejected(url: str, parameter: str) -> None:
    with pytest.raises(InvalidInput, match=f"must not have the parameter '{parameter}'") as rejected:
        check_url(url, ALLOWED, "notifications[0]")
    assert rejected.value.field == "notifications[0]"
    with pytest.raises(MessageFailed, match=parameter):
        send_message(url, "title", "body", ALLOWED, allow_private=False)


@pytest.mark.parametrize(
    "url",
    [
        "mailtos://ada:pw@example.org?to=team@example.org&smtp=mail.example.org&format=html&+X-Team=a",
        "json://ada:pw@example.org:8080/hook?method=PUT&+X-Token=a&:field=b&-query=c&verify=no",
        "slack://TokenA1234/TokenB1234/TokenC12345/#team?footer=no&image=no",
        "ntfys://example.org/topic?priority=high&xtags=a,b",
    ],
)
def test_usual_parameters_are_allowed(url: str) -> None:
    check_url(url, ALLOWED, "notifications[0]")


def test_parameter_that_names_a_file_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="must not name a file"):
        check_url("discord://1234567890/abcdefghijk?avatar_url=File:///etc/passwd", ALLOWED, "notifications[0]")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/hook", "https://example.org/****"),
        ("https://example.org", "https://example.org"),
        ("https://example.org/", "https://example.org/"),
        ("http://ada:pw@example.org:8080/?token=x", "http://****@example.org:8080/?****"),
        ("https://hooks.example.org/services/T0/B0/secret#x", "https://hooks.example.org/****?****"),
        ("https://example.org/a@b", "https://****"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/****"),
    ],
)
def test_addresses_of_webhooks_as_shown(url: str, shown: str) -> None:
    assert masked_address(url) == shown
