"""JSON that is stored: how values become text, and how deeply text from outside may be nested."""

from __future__ import annotations

import array
import itertools
import json
import re
from typing import Any

import msgspec

from hanbeon.errors import InvalidInput, NotSerialisable
from hanbeon.rule import Rule

DEPTH_LIMIT = 100
"""Arrays and objects inside each other, of arguments, results, progress and request bodies.

Far below the depth at which a decoder gives up, which depends on the stack of its caller: what one part has stored,
every other part can read, wrapped in lists and responses of its own.
"""
CONTAINERS_LIMIT = 200_000
"""Arrays and objects in one request body. Each costs time and memory that its two bytes do not show: decoding five
million took seconds. A batch of 10,000 jobs needs some 50,000.
"""
MEMBERS_LIMIT = 550_000
"""Elements of arrays and members of objects in one request body: decoding a million keys took seconds.

More than a batch of 10,000 jobs with 200,000 edges has, or any arguments of the default `max_payload_bytes`.
"""
# The closing quote is optional, so that text which is no JSON is scanned once and not once per quote.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_STEPS = bytes({ord("["): 1, ord("{"): 1, ord("]"): 255, ord("}"): 255}.get(each, 0) for each in range(256))
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NEITHER = bytes(set(range(256)) - set(b'[]{}",'))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_SCALARS = (str, int, bool, type(None))


def depth(text: str | bytes) -> int:
    """Return how deeply JSON is nested: 0 for a number, 2 for `[[]]`. Text that is no JSON gets some number.

    It takes milliseconds for a megabyte and never recurses.
    """
    data = text.encode(errors="replace") if isinstance(text, str) else text
    brackets = _STRING.sub(b"", data).translate(None, _NO_BRACKETS).translate(_STEPS)
    return max(itertools.accumulate(array.array("b", brackets)), default=0)


def check_depth(text: str | bytes, field: str | None = None) -> None:
    """Raise `InvalidInput` for JSON that is nested more deeply than `DEPTH_LIMIT`. Call it before decoding."""
    opening = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    # Nearly always enough: text with few brackets cannot be deep.
    if opening > DEPTH_LIMIT and (found := depth(text)) > DEPTH_LIMIT:
        raise InvalidInput(Rule("too_deep", most=DEPTH_LIMIT, got=found), field=field)


class BoundsCheck:
    """Checks depth and numbers of arrays, objects and members of text that comes in parts, such as a request body.

    The work is spread over the parts, and the first one that goes too far is refused: neither checking nor decoding
    megabytes of brackets may hold up an event loop for seconds.
    """

    def __init__(self, field: str | None = None) -> None:
        self._field = field
        self._depth = self._number = self._members = 0
        self._in_string = False
        self._rest = b""

    def feed(self, part: bytes) -> None:
        """Raise `InvalidInput` if it is nested too deeply up to here, or has too many arrays, objects or members."""
        data = self._rest + part
        # The second half of an escape sequence may be in the next part.
        end = len(data) - (len(data) - len(data.rstrip(b"\\"))) % 2
        data, self._rest = data[:end], data[end:]
        if b"\\" in data:
            data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = data.translate(_ONE_KIND, _NEITHER).split(b'"')
        brackets = b"".join(pieces[self._in_string :: 2])
        self._in_string ^= len(pieces) % 2 == 0
        commas = brackets.count(b",")
        opening = brackets.count(b"[")
        self._number += opening
        # One more in each than it has commas, if it is not empty.
        self._members += commas + opening
        if self._number > CONTAINERS_LIMIT:
            raise InvalidInput(
                Rule("too_many_containers", most=CONTAINERS_LIMIT),
                field=self._field,
            )
        if self._members > MEMBERS_LIMIT:
            raise InvalidInput(
                Rule("too_many_members", most=MEMBERS_LIMIT),
                field=self._field,
            )
        if self._depth + opening > DEPTH_LIMIT:
            steps = array.array("b", brackets.translate(_STEPS))
            self._check(max(itertools.accumulate(steps, initial=self._depth)))
        self._depth += 2 * opening + commas - len(brackets)

    def _check(self, found: int) -> None:
        if found > DEPTH_LIMIT:
            raise InvalidInput(
                Rule("too_deep_or_more", most=DEPTH_LIMIT, got=found),
                field=self._field,
            )


def is_model(kind: type) -> bool:
    """Return True for a class of pydantic's models, which is not imported for that."""
    return hasattr(kind, "model_validate_json") and hasattr(kind, "__pydantic_validator__")


def _dumped(model: Any) -> Any:
    """Return a model as JSON that it can be read from."""
    return model.model_dump(mode="json", by_alias=True, round_trip=True)


def _as_json(value: Any) -> Any:
    if is_model(type(value)):
        return _dumped(value)
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


_encode = msgspec.json.Encoder(enc_hook=_as_json).encode


def to_json_text(value: Any, what: str, field: str) -> str:
    """Encode a value as JSON that everyone can read back, or raise an error that names the remedy."""
    if value is None:
        return "null"  # Most results.
    try:
        text = _encode(value).decode()
        check_depth(text, field)
        if "null" in text:
            _check_numbers(value)
        if type(value) not in _SCALARS:
            msgspec.json.decode(text)  # What a msgspec.Raw holds is not checked by the encoder.
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:
        # Any: the encoder runs code of the value, such as that of a time zone.
        raise NotSerialisable(
            Rule("not_serialisable", what=what, error=_reason(error)),
            field=field,
        ) from error
    return text


def _check_numbers(value: Any) -> None:
    """Raise `ValueError` for NaN and infinity, which msgspec would encode as null."""
    plain = msgspec.to_builtins(
        value, str_keys=True, enc_hook=lambda each: _dumped(each) if is_model(type(each)) else 0
    )
    try:
        json.dumps(plain, allow_nan=False)
    except ValueError:
        raise ValueError("it contains NaN or infinity, which JSON does not have") from None


def _reason(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__
