"""docs/security.md: prose, with the operations of each scope and the limits taken from the code."""

from __future__ import annotations

from collections.abc import Iterator

from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.domain.json_text import CONTAINERS_LIMIT, DEPTH_LIMIT, MEMBERS_LIMIT
from hanbeon.server.auth_throttle import MOST, WINDOW_SECONDS
from hanbeon.settings import Settings
from hanbeon.surfaces.operation import Channel, Operation
from hanbeon.surfaces.registry import SURFACES
from tools.docs.markdown import table

PATH = "security.md"
SOURCE = "tools/docs/security.py"

_PAGE = """# Security

## Trusted

- **The database.** Anyone who can write to it can create jobs and tokens, and reads the secrets of webhooks, which are
  stored as they are: they sign every delivery. New SQLite files have mode 0600; a PostgreSQL database is protected by
  its [roles](operations.md).
- **Code and configuration**: the App, its tasks and `hanbeon.toml`. They decide which programs run and which servers
  are called, with the rights of the worker's account and its environment.
- **The machine and its users, as long as there is no token.** Then every local client is the admin `local`, and
  servers reject other addresses, foreign host names, pages of other sites, and requests that a proxy has passed on
  ([authentication](server.md#authentication)). Not every proxy can be recognised: create a token first.
- **The Redis of stream tasks**, once `redis_url` is set, and everybody who may write to it: a client that can add to
  `<name>.results` ends jobs with results of its choice, and `<name>.requests` holds arguments. Give the servers and
  each kind of worker a user of its own (`ACL`) with the keys of its streams only, set passwords, and use TLS between
  machines: `rediss://user:password@host:6379/0`. What a message may *not* do: name a file of another export or
  attempt ([exports](streams.md#messages)), move a job that was not sent to a worker, or reach the database.
- **The issuer of JWTs**, once `jwt_issuer` is set. Set `jwt_audience` too, or tokens that it made for other
  applications are accepted; a server that starts without it logs a warning.

## Not trusted

- **Clients.** A request can name a registered task and its arguments, and nothing else: no command line, no module,
  no address that a task does not take as an argument. Commands are started without a shell, each argument as one word
  ([executors](executors.md#commands)). What an argument means to its program is the task's matter: limit it with
  `params`.
- **Connections.** At most {max_connections:,} are open, {max_connections_per_address:,} of them from one address, and
  never more than half of what the process may open. A request must arrive within {request_timeout:g} s, plus a second
  for each 1,000 bytes.
- **Bodies.** At most {max_request_bytes:,} bytes (413), nested at most {depth} deep, with at most {containers:,} arrays
  and objects and {members:,} elements and members of those (422). Arguments and results have at most
  {max_payload_bytes:,} bytes each.
- **Text.** Names and values are cut and escaped before an error quotes them, and log lines contain no control
  characters of requests. The command line escapes what jobs and clients wrote.
- **Other web sites** that a browser shows: there is no CORS, changes and WebSockets with a foreign `Origin` are
  rejected, and the pages of the server load nothing from elsewhere.
- **Guessing.** A token has 256 random bits, and only its hash is stored. After {failures} invalid tokens from one
  address within {window:g} s further ones get 429.
- **Servers that tasks, webhooks and notifications call.** Private addresses are rejected, also behind redirects and
  names that change, unless a task or the configuration allows them
  ([how](decisions/0016-outbound-requests-use-checked-addresses.md)).
- **Bodies of tasks** are code of yours, but not its output: results, progress and logs are bounded and escaped where
  they are shown. A command or a process is stopped with everything that it started. It is *not* confined: it runs as
  the worker's user. Run workers under an account of their own.

Traffic is not encrypted: put a proxy with TLS in front of a server that others reach. Arguments, results and logs are
stored as they are, readable for every token: pass references to secrets, not secrets.

## Secrets of workflows

A [secret](messages.md#secrets) declares the hosts that it may be sent to; one that declares none is for what an admin
has saved. What remains:

- A declared host receives the secret and can do anything with it. Users who may save workflows decide what else is sent
  to that host, and can use its answers in later steps.
- A server may answer with the secret in a form that no mask knows. Outputs of steps that used secrets, or such an
  output, are therefore shown to admins only (`output_secret`), and errors of such steps quote nothing of an answer; nor
  do those of messages with a secret in their target, except for the answers of mail servers and of services like Slack.
  The author of a workflow can pass such an output on to a host, a message, or a task, whose arguments and result every
  token can read at `/api/engine/jobs`.
- `slack://` and the like permit every account of the service.
- A name is trusted to lead to its owner. Over `http://` everybody on the way reads what is sent.

## Scopes

A token has one scope; there are no permissions for single offices or jobs. [Every operation](server.md#requests)
names the least scope that may use it; `/healthz`, `/readyz`, `/openapi.json` and `/docs` need none.

| scope | may |
| --- | --- |
| `read` | everything that only reads: {read} operations |
| `user` | also what creates and moves work: {write} operations |
| `admin` | everything: also what configures, and what concerns all users: {admin} operations |
| `cron` | only what a serverless cron calls: {cron} operations |

## Tested

{tested}
## Supply chain

- **Installation.** `constraints.txt` names every Python package that Hanbeon is developed and tested with, by version
  and by the SHA-256 of each file; `make setup` installs those files and no other, and no source archives. The packages
  of the dashboard are named in `dashboard/package-lock.json` with their SHA-512, which npm checks, and their install
  scripts do not run. Neither file says where to download from: the machine's own sources serve the locked files, or are
  refused. Not checked are Python, its pip, and programs of the system.
- **Users** who install the package with pip get versions within the bounds of `pyproject.toml`, not the locked ones.
  There are upper bounds where the next version may break a promise unnoticed; each says why.
- **Bill of materials.** `make sbom` writes `dist/hanbeon-VERSION.cdx.json` (CycloneDX 1.6): each locked package with
  its package URL, hashes and license, and whether users get it always (`required`), with an extra (`optional`) or not
  at all (`excluded`). The packages bundled into the page are among them.
- **Advisories.** `make audit` looks up all locked packages, the page's and the benchmarks' included, in
  [OSV](https://osv.dev), to which it sends their names and versions. It exits with 1 if there are advisories. Where the
  index cannot be reached it says `NOT AUDITED` and exits with 0, or with 2 given `ARGS=--strict`; `ARGS="--index URL"`
  asks a mirror.

## Reporting

Please report a vulnerability privately to the maintainers, through the private reporting of the site that hosts the
repository, and not in a public issue. Say what an attacker needs (network access, a token and its scope, a task), what
they gain, and how to reproduce it; a failing test is the best description. Versions before 1.0 get fixes in the next
release only, and the [changelog](../CHANGELOG.md) names them.
"""


def render() -> str:
    settings = {name: field.default for name, field in Settings.model_fields.items()}
    return _PAGE.format(
        **{name: settings[name] for name in _LIMITS},
        depth=DEPTH_LIMIT,
        containers=CONTAINERS_LIMIT,
        members=MEMBERS_LIMIT,
        failures=MOST,
        window=WINDOW_SECONDS,
        tested=table(("claim", "tests"), ((claim, _links(paths)) for claim, paths in _TESTED)),
        **dict(_numbers()),
    )


_TESTED = (
    ("every operation is refused without a token and with every other scope", "tests/server/test_scopes.py"),
    ("tokens, local access, proxies, foreign pages, throttling", "tests/server/test_auth.py"),
    ("JWTs: forgeries, other audiences, changed keys", "tests/server/test_jwt.py"),
    ("hostile JSON against every operation: no 5xx, no stall, bounded memory", "tests/server/fuzz"),
    ("connections and descriptors", "tests/server/test_connections.py"),
    ("clients that send or read slowly", "tests/server/test_slow_clients.py"),
    ("quoted values, log lines", "tests/test_quotation.py tests/server/test_serve.py"),
    ("addresses of outbound requests", "tests/outbound"),
    ("hashes of installed files, the bill of materials, the audit", "tests/supply_chain"),
    ("the scopes and numbers of this page, which are generated from the code", "tests/docs/test_security.py"),
)


def _links(paths: str) -> str:
    return ", ".join(f"[`{path}`](../{path})" for path in paths.split())


_LIMITS = (
    *("max_connections", "max_connections_per_address", "request_timeout"),
    *("max_request_bytes", "max_payload_bytes"),
)


def _all() -> Iterator[Operation | Channel]:
    for surface in SURFACES:
        yield from surface.operations
        yield from surface.channels


def _numbers() -> Iterator[tuple[str, int]]:
    """How many operations a token of each scope may use."""
    for name, scope in (("read", Scope.READ), ("write", Scope.USER), ("admin", Scope.ADMIN), ("cron", Scope.CRON)):
        yield name, sum(scope in ALLOWED[each.need] and each.need is not Need.NOTHING for each in _all())
