"""Every setting, declared once: environment (`HANBEON_…`), file, the App's arguments and the docs come from here.

Those of the engine are in this module, those of a surface in its folder.
"""

from __future__ import annotations

import difflib
import functools
import os
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from hanbeon.errors import InvalidInput
from hanbeon.job_links import links_of
from hanbeon.logs import get_logger
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.setting_fields import (
    CONCURRENCY_MAX,
    LONGEST,
    SECRET,
    DeclaredFields,
    Field,
    FieldInfo,
    Fields,
    InvalidFields,
    seconds,
)
from hanbeon.zones import zone_of

if TYPE_CHECKING:
    from hanbeon.surface_settings import SurfaceSettings as _Declared  # A stub, generated from the registry.
else:
    _Declared = DeclaredFields

_log = get_logger("hanbeon.settings")

FILE = ("_file", "_path")
"""Name endings of the settings that are paths."""
LANGUAGES = ("en", "ko")
CRON_SECRET_RECOMMENDED = 16
"""Characters; a server that starts with a shorter secret logs a warning."""
_GRACE, _GRACE_SHARE = 5.0, 0.25
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#@\\]+(/[^\s?#\\]*)?")


def page_url(address: str, *parts: str) -> str:
    """The address of a page of the dashboard that is served at `address`."""
    return f"{address.rstrip('/')}/#/{'/'.join(quote(part, safe='') for part in parts)}"


def _known_zone(value: str, _: Mapping[str, Any]) -> str:
    try:
        return zone_of(value).key
    except InvalidInput as error:
        raise ValueError(error.rule) from None


def _networks(value: str, _: Mapping[str, Any]) -> str:
    try:
        return " ".join(str(ip_network(each)) for each in value.split())
    except ValueError as error:
        raise ValueError(Rule("setting_networks", error=error)) from None


def _known_language(value: str, _: Mapping[str, Any]) -> str:
    if value not in LANGUAGES:
        raise ValueError(Rule("must_be", what=Rule("one_of", choices=LANGUAGES), got=quoted(value)))
    return value


def _web_address(value: str | None, _: Mapping[str, Any]) -> str | None:
    if value is not None and not _WEB_ADDRESS.fullmatch(value):
        raise ValueError(Rule("setting_web_address"))
    return value and value.rstrip("/")


def _job_links(value: str, _: Mapping[str, Any]) -> str:
    links_of(value)
    return " ".join(value.split())


def _within_the_lease(value: float | None, others: Mapping[str, Any]) -> float | None:
    lease = others.get("lease", 0.0)  # Absent if it is invalid itself, which is reported first.
    if value is not None and value > lease * _GRACE_SHARE:
        most, needed = lease * _GRACE_SHARE, value / _GRACE_SHARE
        rule = Rule(
            "setting_within_lease", most=f"{most:g}", lease=f"{lease:g}", got=f"{value:g}", needed=f"{needed:g}"
        )
        raise ValueError(rule)
    return value


def _of_surfaces(own: Fields) -> Fields:
    # By name, and when they are asked for: the registry is far above this module, and stream workers need only URLs.
    others = _declared_by(import_module("hanbeon.surfaces.registry").SURFACES)
    if twice := own.keys() & others.keys():
        raise ValueError(f"settings of the engine and of a surface: {', '.join(sorted(twice))}")
    return {**own, **others}


@functools.cache
def _declared_by(surfaces: Iterable[Any]) -> Fields:
    found: dict[str, FieldInfo] = {}
    for module, _, name in (surface.settings.partition(":") for surface in surfaces if surface.settings):
        fields = getattr(import_module(module), name).model_fields
        if twice := fields.keys() & found.keys():
            raise ValueError(f"{module}: settings of another surface, too: {', '.join(sorted(twice))}")
        found |= fields
    return found


class Settings(_Declared, env_prefix="HANBEON_", others=_of_surfaces):
    """The behaviour of an instance. Durations are in seconds."""

    database_url: str = Field("sqlite:///hanbeon.db", description="The database: sqlite:///file or postgresql://…")
    listen_url: str | None = Field(None, description="A direct PostgreSQL URL for LISTEN, past a pooler")
    redis_url: str | None = Field(
        None, description="The Redis of stream tasks: redis://host:6379/0; without it they run in-process"
    )
    timezone: str = Field(
        "Asia/Seoul", check=_known_zone, description="The IANA time zone of naive and of displayed times"
    )
    lease: float = seconds(30.0, "How long a claim lasts without a heartbeat")
    concurrency: int = Field(20, ge=1, le=CONCURRENCY_MAX, description="How many jobs one worker runs concurrently")
    processes: int | None = Field(
        None, ge=1, le=10_000, description="How many idle worker processes are kept warm; by default one per CPU"
    )
    jobs_per_process: int = Field(1_000, ge=1, description="How many jobs a worker process runs before it is replaced")
    stop_grace: float | None = Field(
        None,
        check=_within_the_lease,
        ge=0,
        le=LONGEST,
        description="Time between SIGTERM and SIGKILL; by default 5, and never more than a quarter of the lease",
    )
    poll: float = seconds(5.0, "How often to poll in case a notification is lost")
    watch: float = seconds(0.5, "How often a busy worker checks for stop requests")
    shutdown_grace: float = Field(10.0, ge=0, le=LONGEST, description="How long a stopping worker lets jobs finish")
    retention: float = seconds(30 * 86_400.0, "How long finished jobs, attempts, logs and events are kept")
    prune_every: float = seconds(60.0, "How often a worker deletes what is past its retention")
    max_payload_bytes: int = Field(1_048_576, ge=1_024, description="Maximum size of arguments or a result, as JSON")
    max_log_bytes: int = Field(
        1_048_576, ge=0, le=67_108_864, description="Maximum log size per attempt; 0 keeps no log"
    )
    capture_output: bool = Field(
        True, description="Copy what Python tasks print, and records of logging, to the logs of their jobs"
    )
    outbound_allow_private: bool = Field(
        False,
        description="Allow HTTP tasks, webhooks and notifications to reach private addresses, except cloud metadata",
    )
    outbound_networks: str = Field(
        "",
        check=_networks,
        description="Private networks that are allowed, with spaces between (10.1.0.0/16), also of cloud metadata",
    )
    message_schemes: str = Field(
        "mailto mailtos json jsons xml xmls form forms slack discord workflows gchat tgram mmost mmosts "
        "rocket rockets matrix matrixs ntfy ntfys gotify gotifys pover pagerduty opsgenie line lark webex zulip",
        description="URL schemes allowed as notification targets, as named by Apprise",
    )
    language: str = Field("en", check=_known_language, description="The language of notifications: en or ko")
    public_url: str | None = Field(
        None,
        check=_web_address,
        description="The address of the dashboard, https://jobs.example.org: notifications and commands link to it",
    )
    job_links: str = Field(
        "",
        check=_job_links,
        description="Links of a job to other tools, Name=https://logs.example.org/?q={id} with spaces between: "
        "{id}, {task}, {queue}, {role}, {attempt} and {work_item} become those of the job",
    )
    pool_size: int = Field(10, ge=2, description="Maximum PostgreSQL connections of one App")
    host: str = Field("127.0.0.1", may_be_empty=False, description="The address the server listens on")
    port: int = Field(8000, ge=0, le=65_535, description="The port the server listens on; 0 picks a free one")
    max_request_bytes: int = Field(16_777_216, ge=1_024, description="Maximum size of a request body")
    request_timeout: float = seconds(
        30.0, "How long a client may take to send a request, plus a second for each 1,000 bytes"
    )
    max_connections: int = Field(
        4_000, ge=1, le=1_000_000, description="Maximum open connections of a server, at most half of its descriptors"
    )
    max_connections_per_address: int = Field(
        1_000,
        ge=1,
        le=1_000_000,
        description="Maximum open connections of one address (IPv6: one network of 64 bits), which may be a proxy",
    )

    asgi_worker: bool = Field(
        False, description="Run jobs in `hanbeon.asgi:application` too, if its server sends lifespan events"
    )
    metrics_queues: int = Field(
        100,
        ge=0,
        le=1_000_000,
        description="How many queues `/metrics` shows by name, the largest; the others are summed as `*`",
    )

    cron_secret: str | None = Field(
        None,
        may_be_empty=False,
        repr=False,
        description="A token of scope cron, for a serverless cron; use at least "
        f"{CRON_SECRET_RECOMMENDED} random characters. Like any token it turns authentication on",
    )
    tracing: bool = Field(
        False,
        description="Export traces with OpenTelemetry, configured by the OTEL_… variables; needs the extra `otel`",
    )

    jwt_issuer: str | None = Field(
        None, may_be_empty=False, description="The `iss` of accepted JWTs; requires one of the four settings below"
    )
    jwt_secret: str | None = Field(None, repr=False, description="The issuer's shared secret (HS256)")
    jwt_secret_file: str | None = Field(None, description="A file that contains the shared secret")
    jwt_key_file: str | None = Field(None, description="The issuer's public key (RS256, ES256): a PEM file")
    jwt_jwks_file: str | None = Field(None, description="The issuer's keys by `kid`: a JWKS file")
    jwt_audience: str | None = Field(None, may_be_empty=False, description="The required `aud` of JWTs; any if not set")
    jwt_scope_claim: str = Field("scope", may_be_empty=False, description="The JWT claim that contains the scopes")

    @property
    def outbound_private(self) -> bool | str:
        """Private addresses that may be reached, as `hanbeon.outbound.addresses` reads it."""
        if not self.outbound_networks:
            return self.outbound_allow_private
        return f"{'true ' if self.outbound_allow_private else ''}{self.outbound_networks}"

    @property
    def captures_output(self) -> bool:
        return self.capture_output and self.max_log_bytes > 0

    @property
    def grace(self) -> float:
        """How long killable work has to end by itself after SIGTERM."""
        return min(_GRACE, self.lease * _GRACE_SHARE) if self.stop_grace is None else self.stop_grace

    def page_url(self, *parts: str) -> str | None:
        """The address of a page of the dashboard, such as `jobs` and an id; None without a `public_url`."""
        return None if self.public_url is None else page_url(self.public_url, *parts)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def zone_of_naive(self) -> ZoneInfo | None:
        """The zone of naive `datetime` objects; None, which rejects them, unless `timezone` was set."""
        return self.zone if "timezone" in self.chosen else None

    @property
    def heartbeat(self) -> float:
        """A third of the lease: two beats may fail before it is in danger."""
        return self.lease / 3


def load_settings(from_file: Mapping[str, Any] | None = None, /, **given: object) -> Settings:
    """Resolve each setting: `given`, else the environment, else `from_file`, else the default.

    Raises InvalidInput with the name of the first invalid setting.
    """
    for name, near in misspelt_names().items():
        _warn_misspelt(name, near)
    chosen = {name: value for name, value in given.items() if value is not None}
    file = {
        name: value for name, value in (from_file or {}).items() if name not in chosen and variable_of(name) is None
    }
    try:
        return Settings(**{**file, **chosen})
    except InvalidFields as error:
        field, rule = error.broken[0]
        raise _invalid(field, rule, Rule("the_file") if field in file else None) from error


@functools.cache
def _warn_misspelt(name: str, near: str) -> None:
    """Warn once per process: settings are loaded more often than that."""
    _log.warning("unknown_setting", name=name, did_you_mean=near)


def invalid_settings() -> list[InvalidInput]:
    """Return an error for every invalid value in the environment."""
    try:
        Settings()
    except InvalidFields as error:
        return [_invalid(field, rule) for field, rule in error.broken]
    return []


def _invalid(field: str, broken: Rule, origin: Rule | None = None) -> InvalidInput:
    return InvalidInput(Rule("setting", rule=broken, origin=origin or f"HANBEON_{field.upper()}"), field=field)


def variable_of(name: str) -> str | None:
    """Return the environment variable that sets it, in any case, if there is one."""
    expected = f"{Settings.env_prefix}{name}".upper()
    return next((variable for variable in os.environ if variable.upper() == expected), None)


def misspelt_names() -> dict[str, str]:
    """Map misspelt variables to the nearest setting. Others with that prefix may belong to other programs."""
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
    """Return the value of a setting with its secrets masked."""
    if value is None or not name.endswith(SECRET):
        return value
    return masked(value) if name.endswith("_url") else "***"


def masked(url: str) -> str:
    """Return a URL with its passwords masked. If it is not a URL, too much is masked rather than too little."""
    return _PASSWORD_PARAMETER.sub(r"\1***", _USER_AND_PASSWORD.sub(r"\1\2:***@", url))
