"""The fixtures live in small plugin modules; this file only names them."""

pytest_plugins = [
    "tests.further_stores",
    "tests.garbage",
    "tests.logs",
    "tests.properties",
    "tests.rerun",
    "tests.run_order",
    "tests.signals",
    "tests.time_limits",
    "tests.databases.run",
    "tests.databases.fixtures",
    "tests.databases.valkey",
    "tests.testing.kits",
]
