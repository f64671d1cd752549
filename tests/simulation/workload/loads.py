"""All kinds of load. A new capability adds its own here."""

from __future__ import annotations

from tests.simulation.workload.chains import Chains
from tests.simulation.workload.files import Files
from tests.simulation.workload.interventions import Interventions
from tests.simulation.workload.jobs import Jobs
from tests.simulation.workload.keys import Keys
from tests.simulation.workload.load import Load
from tests.simulation.workload.offices import Offices
from tests.simulation.workload.retention import Retention
from tests.simulation.workload.schedules import Schedules
from tests.simulation.workload.transactions import Transactions
from tests.simulation.workload.workflows import Workflows

LOADS: tuple[type[Load], ...] = (
    Jobs,
    Retention,
    Keys,
    Interventions,
    Transactions,
    Schedules,
    Chains,
    Workflows,
    Offices,
    Files,
)
