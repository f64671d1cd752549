"""Every setting, declared once: environment (`HANBEON_…`), file, the App's arguments and the docs come from here."""

from __future__ import annotations

import difflib
import functools
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from hanbeon.errors import InvalidInput
from hanbeon.logs import get_logger
from hanbeon.zones import zone_of

_log = get_logger("hanbeon.settings")

SECRET = ("_url", "_secret")
"""How the names of those end that may hold a password, or are one."""
FILE = "_file"
"""How the names of those end that are paths."""
CONCURRENCY_MAX = 10_000
LANGUAGES = ("en", "ko")
_LONGEST = 100 * 366 * 86_400.0
_GRACE, _GRACE_SHARE = 5.0, 0.25
Seconds = Annotated[float, Field(gt=0, le=_LONGEST)]


class Settings(BaseSettings):
    """How an instance behaves. Durations are seconds."""

    model_config = SettingsConfigDict(
        env_prefix="HANBEON_", extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    database_url: str = Field("sqlite:///hanbeon.db", description="Where jobs live: sqlite:///file or postgresql://…")
    listen_url: str | None = Field(None, description="A direct PostgreSQL address for wake-ups, past a pooler")
    timezone: str = Field("Asia/Seoul", description="The IANA zone that naive times are read in and people are shown")
    lease: Seconds = Field(30.0, description="How long a claim lasts without a heartbeat")
    concurrency: int = Field(20, ge=1, le=CONCURRENCY_MAX, description="How many jobs one worker runs at once")
    processes: int | None = Field(
        None, ge=1, le=10_000, description="How many idle worker processes are kept warm; by default one for each CPU"
    )
    jobs_per_process: int = Field(1_000, ge=1, description="After how many jobs a worker process is replaced")
    stop_grace: float | None = Field(
        None,
        ge=0,
        le=_LONGEST,
        description="Between SIGTERM and SIGKILL; by default 5, and never over a quarter of the lease",
    )
    poll: Seconds = Field(5.0, description="The safety net behind wake-ups")
    watch: Seconds = Field(0.5, description="How often a busy worker looks for stop requests")
    shutdown_grace: float = Field(10.0, ge=0, le=_LONGEST, description="How long a stopping worker lets jobs finish")
    misfire_grace: Seconds = Field(
        60.0, description="How late a schedule's fire may be seen to and still count as on time, not as missed"
    )
    retention: Seconds = Field(30 * 86_400.0, description="How long finished jobs, attempts, logs and events are kept")
    prune_every: Seconds = Field(60.0, description="How often a worker looks for what is past its retention")
    max_payload_bytes: int = Field(1_048_576, ge=1_024, description="The most that arguments or a result may take")
    max_log_bytes: int = Field(
        1_048_576, ge=0, le=67_108_864, description="The most that the log of an attempt may take; 0 keeps none"
    )
    outbound_allow_private: bool = Field(
        False,
        description="Whether HTTP tasks, webhooks and notifications may go to private addresses",
    )
    message_schemes: str = Field(
        "mailto mailtos json jsons xml xmls form forms slack discord workflows gchat tgram mmost mmosts "
        "rocket rockets matrix matrixs ntfy ntfys gotify gotifys pover pagerduty opsgenie line lark webex zulip",
        description="The kinds of targets that notifications may go to, by the names of apprise",
    )
    language: str = Field("en", description="The language of notifications: en or ko")
    outgoing_concurrency: int = Field(
        32, ge=1, le=1_000, description="How many webhooks and notifications a worker sends at once, beside its jobs"
    )
    webhook_timeout: float = Field(10.0, gt=0, le=300, description="How long a webhook may take to answer")
    webhook_patience: float = Field(
        4 * 3600.0, ge=0, le=_LONGEST, description="How long a webhook may fail, again and again, until it is disabled"
    )
    pool_size: int = Field(10, ge=2, description="PostgreSQL connections of one App")
    host: str = Field("127.0.0.1", min_length=1, description="The address that a server listens at")
    port: int = Field(8000, ge=0, le=65_535, description="The port that a server listens at; 0 takes a free one")
    max_request_bytes: int = Field(16_777_216, ge=1_024, description="The most that the body of a request may take")
    request_timeout: Seconds = Field(
        30.0, description="How long a client may take to send a request, and a second more for each 1,000 bytes of it"
    )

    jwt_issuer: str | None = Field(
        None, min_length=1, description="Whose JWTs a server accepts: their `iss`; needs one of the four below"
    )
    jwt_secret: str | None = Field(None, repr=False, description="The secret of an issuer that signs with HS256")
    jwt_secret_file: str | None = Field(None, description="A file that holds that secret instead")
    jwt_key_file: str | None = Field(None, description="The public key of an issuer (RS256, ES256): a PEM file")
    jwt_jwks_file: str | None = Field(None, description="The keys of an issuer by `kid`: a JWKS file")
    jwt_audience: str | None = Field(None, min_length=1, description="What the `aud` of JWTs must name; any if not set")
    jwt_scope_claim: str = Field("scope", min_length=1, description="The claim of a JWT that has its scopes")

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            return zone_of(value).key
        except InvalidInput as error:
            raise ValueError(str(error).removeprefix(f"{error.field}: ")) from None

    @field_validator("language")
    @classmethod
    def _known_language(cls, value: str) -> str:
        if value not in LANGUAGES:
            raise ValueError(f"{value!r} is not there; use {' or '.join(LANGUAGES)}")
        return value

    @field_validator("stop_grace")
    @classmethod
    def _fits_the_lease(cls, value: float | None, info: ValidationInfo) -> float | None:
        lease = info.data.get("lease", 0.0)  # Absent if it does not fit itself, which is told first.
        if value is not None and value > lease * _GRACE_SHARE:
            raise ValueError(
                f"{value:g} s do not fit into a lease of {lease:g} s, before whose end work must have stopped; "
                f"use {lease * _GRACE_SHARE:g} at the most, or a lease of {value / _GRACE_SHARE:g}"
            )
        return value

    @property
    def grace(self) -> float:
        """How long work that can be killed has to end by itself."""
        return min(_GRACE, self.lease * _GRACE_SHARE) if self.stop_grace is None else self.stop_grace

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def heartbeat(self) -> float:
        """A third of the lease: two beats may fail before it is in danger."""
        return self.lease / 3


def load_settings(said: Mapping[str, Any] | None = None, /, **given: object) -> Settings:
    """What is given, else the environment's, else what a file has `said`, else the default.

    A value that does not fit is refused by its name.
    """
    for name, near in misspelt_names().items():
        _warn_of(name, near)
    chosen = {name: value for name, value in given.items() if value is not None}
    below = {name: value for name, value in (said or {}).items() if name not in chosen and variable_of(name) is None}
    try:
        return Settings(**{**below, **chosen})
    except ValidationError as error:
        field, message = misfits(error)[0]
        raise _refusal(field, message, "the file" if field in below else None) from error


@functools.cache
def _warn_of(name: str, near: str) -> None:
    """Once: settings are loaded more often than that."""
    _log.warning("unknown_setting", name=name, did_you_mean=near)


def settings_refused() -> list[InvalidInput]:
    """Every value of the environment that does not fit."""
    try:
        Settings()
    except ValidationError as error:
        return [_refusal(field, message) for field, message in misfits(error)]
    return []


def misfits(error: ValidationError) -> list[tuple[str, str]]:
    """Which settings do not fit, and why."""
    return [
        (".".join(str(part) for part in each["loc"]), each["msg"].removeprefix("Value error, "))
        for each in error.errors()
    ]


def _refusal(field: str, message: str, origin: str | None = None) -> InvalidInput:
    return InvalidInput(f"{message} ({origin or f'HANBEON_{field.upper()}'})", field=field)


def variable_of(name: str) -> str | None:
    """The variable of the environment that sets it; upper and lower case are the same to the settings."""
    wanted = f"{Settings.model_config['env_prefix']}{name}".upper()
    return next((variable for variable in os.environ if variable.upper() == wanted), None)


def misspelt_names() -> dict[str, str]:
    """Variables that are nearly a setting, and which. Others of that prefix may be those of other programs."""
    known = {f"HANBEON_{name.upper()}" for name in Settings.model_fields}
    found = {}
    for name in os.environ:
        if name.startswith("HANBEON_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if near:
                found[name] = near[0]
    return found


_SCHEME = r"(?:[a-z][a-z0-9+.-]*:)?//"
_USER_AND_PASSWORD = re.compile(rf"^({_SCHEME}|(?!{_SCHEME}))([^:@/]*):.*@", re.IGNORECASE | re.DOTALL)
_PASSWORD_PARAMETER = re.compile(r"([?&][^=&]*password=)[^&]*", re.IGNORECASE)


def shown(name: str, value: Any) -> Any:
    """The value of a setting, to be shown."""
    if value is None or not name.endswith(SECRET):
        return value
    return masked(value) if name.endswith("_url") else "***"


def masked(url: str) -> str:
    """An address without its passwords, to be shown. Of one that is no address, rather too much is masked."""
    return _PASSWORD_PARAMETER.sub(r"\1***", _USER_AND_PASSWORD.sub(r"\1\2:***@", url))
