"""The address of an HTTP call: nothing that a job says changes the host, or leads out of its place in the path."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.errors import InvalidInput
from hanbeon.outbound.origin import Origin, split_url
from hanbeon.tasks.http_call import Url

JOB = {"id": "0-0", "fence": 3}


def fill(url: str, further: dict[str, Any] | None = None, **args: Any) -> str:
    return Url.of(url, "url").fill({"args": args, "job": JOB}, further or {})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/hook", Origin("https", "example.org", 443)),
        ("HTTP://Example.ORG:8080", Origin("http", "example.org", 8080)),
        ("https://[::1]:9/x", Origin("https", "::1", 9)),
        ("https://한글.kr/", Origin("https", "xn--bj0bj06e.kr", 443)),
    ],
)
def test_origins(url: str, expected: Origin) -> None:
    assert Url.of(url, "url").origin == expected


def test_how_an_origin_is_written() -> None:
    assert [str(Origin("https", "a.b", 443)), str(Origin("http", "a.b", 443)), str(Origin("http", "::1", 80))] == [
        "https://a.b",
        "http://a.b:443",
        "http://[::1]",
    ]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "must be an http or https URL"),
        ("example.org", "must be an http or https URL"),
        ("ftp://example.org/", "must be an http or https URL"),
        ("file:///etc/passwd", "must be an http or https URL"),
        ("https:///path", "must be an http or https URL"),
        ("https://user:pass@example.org/", "must not contain a user or password"),
        ("https://user@example.org/", "must not contain a user or password"),
        ("https://{args.host}/", "must have no placeholder in the host"),
        ("https://example.{args.tld}/", "must have no placeholder in the host"),
        ("https://example.org:{args.port}/", "must have no placeholder in the host"),
        ("{args.scheme}://example.org/", "must have no placeholder in the host"),
        ("https://example.org?{arg.x}", "unknown placeholder"),
        ("https://example.org/{x}", "unknown placeholder"),
        ("https://example.org/#top", "never sent"),
        ("https://example.org/a b", "must not contain spaces"),
        ("https://example.org\\@evil.org/", "must not contain a user or password"),
        ("https://example.org\\evil.org/", "must not contain spaces"),
        ("https://example.org/\r\nX: 1", "must not contain spaces"),
        ("https://example.org:0/", "must have a port"),
        ("https://example.org:99999/", "must have a port"),
        ("https://example.org:x/", "must have a valid host"),
        ("https://exa_mple!.org/", "must have a valid host"),
        ("https://[::g]/", "must have a valid host"),
        ("https://[1.2.3.4]/", "must have a valid host"),
        ("https://example.org/a/../b", "write the path out"),
        ("https://example.org/a/%2e%2E/b", "write the path out"),
        (7, "must be text like"),
    ],
)
def test_rejects_invalid_urls(url: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        Url.of(url, "url")
    assert caught.value.field == "url"
    assert "pass" not in str(caught.value).replace("password", "")


def test_quotes_filled_in_values() -> None:
    assert fill("https://e.org/a/{args.x}/b?q={args.x}&f={job.fence}", x="1/2 ?&#%é") == (
        "/a/1%2F2%20%3F%26%23%25%C3%A9/b?q=1%2F2%20%3F%26%23%25%C3%A9&f=3"
    )
    assert fill("https://e.org/é/{{x}}?q=a b".replace(" ", "+")) == "/%C3%A9/%7Bx%7D?q=a+b"
    assert fill("https://e.org") == "/"
    assert fill("https://e.org/{args.x}", x={"a": [1, True]}) == "/%7B%22a%22%3A%5B1%2Ctrue%5D%7D"


def test_further_arguments_follow_the_query() -> None:
    further = {"a&b": "c=d", "many": [1, "x"], "none": None, "yes": True, "thing": {"k": 1}}
    assert fill("https://e.org/?z=1", further) == "/?z=1&a%26b=c%3Dd&many=1&many=x&yes=true&thing=%7B%22k%22%3A1%7D"
    assert fill("https://e.org/x", {"a": ""}) == "/x?a="


@pytest.mark.parametrize("value", ["", ".", "..", "../x", "x/../y", "..\\x", "%2e%2e", "%2e%2e%2fx", "./x"])
def test_rejects_urls_that_would_lead_elsewhere(value: str) -> None:
    with pytest.raises(InvalidInput, match="leads elsewhere"):
        fill("https://e.org/users/{args.id}", id=value)


def test_two_dots_from_two_places_lead_elsewhere_too() -> None:
    with pytest.raises(InvalidInput, match="leads elsewhere"):
        fill("https://e.org/users/{args.a}{args.b}", a=".", b=".")
    assert fill("https://e.org/files/v{args.a}.txt", a="1.2") == "/files/v1.2.txt"


@given(st.text(min_size=1), st.text())
def test_no_argument_changes_the_place(path: str, query: str) -> None:
    """Read by another parser: the host is the same, the path has its parts, and everything comes back as it was."""
    url = Url.of("https://example.org/a/{args.path}/b?q={args.query}&r=1", "url")
    try:
        target = url.fill({"args": {"path": path, "query": query}, "job": JOB}, {})
    except InvalidInput:
        assert "." in path or "%" in path
        return
    except UnicodeEncodeError:
        assert any("\ud800" <= each <= "\udfff" for each in path + query)
        return
    assert target.isascii()
    assert target.isprintable()
    assert " " not in target
    found = urlsplit(f"{url.origin}{target}")
    assert (found.scheme, found.netloc) == ("https", "example.org")
    parts = found.path.split("/")
    assert [parts[0], parts[1], unquote(parts[2]), parts[3]] == ["", "a", path, "b"]
    assert parse_qsl(found.query, keep_blank_values=True) == [("q", query), ("r", "1")]
    assert split_url(f"{url.origin}{target}", "url")[0] == url.origin


def test_how_it_is_shown() -> None:
    assert str(Url.of("https://E.org:443/a/{args.x}?q={args.y}", "url")) == "https://e.org/a/{args.x}?q={args.y}"
