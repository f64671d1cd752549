"""The fixtures live in small plugin modules; this file only names them."""

pytest_plugins = [
    "tests.further_stores",
    "tests.logs",
    "tests.properties",
    "tests.rerun",
    "tests.signals",
    "tests.databases.run",
    "tests.databases.fixtures",
    "tests.databases.valkey",
    "tests.testing.kits",
]
