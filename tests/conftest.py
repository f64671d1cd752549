"""The fixtures live in small plugin modules; this file only names them."""

pytest_plugins = [
    "tests.rerun",
    "tests.logs",
    "tests.properties",
    "tests.databases.run",
    "tests.databases.fixtures",
    "tests.testing.kits",
]
