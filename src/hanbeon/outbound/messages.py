"""The border to apprise, which sends notifications through many services. It is slow to load, and blocks."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import Any

from hanbeon.domain.masks import MASK
from hanbeon.errors import InvalidInput, PermanentError, TaskError
from hanbeon.outbound.address_guard import AddressRefused, only_public
from hanbeon.outbound.addresses import HOW_TO_ALLOW
from hanbeon.outbound.targets import check_parameters, check_scheme, without_secrets

_LOGGER = "apprise"


def check_readable(urls: Iterable[Any], schemes: str) -> None:
    """Reject incomplete targets of an allowed kind; those of other kinds are not even parsed."""
    for number, url in enumerate(urls):
        field = f"notifications[{number}]"
        if not isinstance(url, str) or MASK in url or "://" not in url or not url.isprintable():
            continue
        check_scheme(url, schemes, field)
        if _target(url, field) is None:
            raise InvalidInput("must be a complete target of its kind; something is missing or misspelt", field=field)


def send_message(url: str, title: str, body: str, schemes: str, allow_private: bool) -> None:
    """Send it now; raises an error with the reason. Errors do not contain the address."""
    check_scheme(url, schemes)
    heard = _Heard()
    with heard, only_public(allow_private=allow_private):
        try:
            target = _target(url)
        except InvalidInput as error:  # It was stored before this was checked.
            raise PermanentError(str(error), failure_type="permission_error") from None
        if target is None:
            raise PermanentError("the target cannot be parsed; it may need another version of apprise")
        try:
            sent = target.notify(title=title, body=body)
        except AddressRefused as error:
            raise _refused(error, url) from None
        except Exception as error:
            raise TaskError(without_secrets(f"{type(error).__name__}: {error}", url)) from None
    if not sent:
        raise (
            _refused(heard.text, url)
            if "is refused: a " in heard.text
            else TaskError(without_secrets(heard.text, url) or "it was not accepted")
        )


def _refused(why: object, url: str) -> TaskError:
    return PermanentError(
        without_secrets(f"{why}; {HOW_TO_ALLOW}", url),
        failure_type="permission_error",
    )


def _target(url: str, field: str | None = None) -> Any:
    """The target, checked as Apprise itself reads it: what it takes for a parameter must be allowed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # From the libraries that it imports.
        import apprise

        logger = logging.getLogger(_LOGGER)
        logger.propagate = False  # It logs the whole address when it cannot parse one.
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        parts = apprise.plugins.url_to_dict(url)  # type: ignore[no-untyped-call]
        if parts is None:
            return None
        check_parameters(url, parts.get("qsd", {}), parts.get("qsd", {}).values(), field)
        return apprise.Apprise.instantiate(url)


class _Heard(logging.Handler):
    """Collects the log messages of the library, which raises nothing and returns only False."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text = ""

    def __enter__(self) -> _Heard:
        logger = logging.getLogger(_LOGGER)
        self._before, self._level = logger.handlers, logger.level
        logger.handlers, logger.propagate = [self], False
        logger.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *exc: object) -> None:
        logger = logging.getLogger(_LOGGER)
        logger.handlers = self._before
        logger.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.levelno >= logging.WARNING or "is refused: a " in text:
            self.text = f"{self.text} {text}".strip()[:1_000]
