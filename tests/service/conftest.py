"""The services are tested on an open store of each database."""

from tests.store.conftest import store as store
