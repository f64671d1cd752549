"""Settings of the surfaces, as `hanbeon.settings` has them. Generated from the registry."""

from hanbeon.surfaces.chains.settings import ChainSettings
from hanbeon.surfaces.exports.settings import ExportSettings
from hanbeon.surfaces.offices.settings import OfficeSettings
from hanbeon.surfaces.schedules.settings import ScheduleSettings
from hanbeon.surfaces.workflows.settings import WorkflowSettings

class SurfaceSettings(OfficeSettings, ScheduleSettings, ChainSettings, WorkflowSettings, ExportSettings): ...
