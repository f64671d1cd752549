"""The subjects of the benchmarks: Hanbeon on each store, and its peers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bench.environments import OURS, folder


class Store(StrEnum):
    POSTGRES = "postgres"
    SQLITE = "sqlite"
    REDIS = "redis"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A queue with its worker's settings and the number of jobs that keeps it busy for a few seconds."""

    name: str
    note: str
    store: Store
    adapter: str
    environment: str
    singles: int
    """Jobs of one enqueue measurement."""
    jobs: int
    """Jobs of one drain."""
    bulk: bool = False
    worker: str = "{bin}/python -m bench.adapters.client {adapter} worker {setting}"
    setting: int = 0
    unfinished: str | None = None
    """SQL that counts the unfinished jobs in its own tables."""

    @property
    def is_ours(self) -> bool:
        return self.environment == OURS

    def client(self, *arguments: object) -> list[str]:
        program = [str(folder(self.environment) / "python"), "-m", "bench.adapters.client", self.adapter]
        return [*program, *map(str, arguments)]

    def worker_command(self, number: int, url: str) -> list[str]:
        words = {"bin": folder(self.environment), "adapter": self.adapter, "setting": self.setting}
        return [word.format(**words, number=number, url=url) for word in self.worker.split()]


def rival(subject: Subject) -> str:
    """Return the subject of ours that a peer is compared with: on SQLite ours on SQLite, else ours on PostgreSQL."""
    return f"{OURS}-{Store.SQLITE if subject.store is Store.SQLITE else Store.POSTGRES}"
