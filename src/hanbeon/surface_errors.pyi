"""Errors of the surfaces, as `hanbeon.errors` has them. Generated from the registry."""

from hanbeon.surfaces.chains.errors import ChainNotFound as ChainNotFound
from hanbeon.surfaces.chains.errors import ChainRunNotFound as ChainRunNotFound
from hanbeon.surfaces.chains.errors import ChainWrongState as ChainWrongState
from hanbeon.surfaces.chains.errors import LibraryNotAllowed as LibraryNotAllowed
from hanbeon.surfaces.exports.errors import ExportEnded as ExportEnded
from hanbeon.surfaces.exports.errors import ExportNotFound as ExportNotFound
from hanbeon.surfaces.exports.errors import InvalidOutputPath as InvalidOutputPath
from hanbeon.surfaces.exports.errors import ReplayInUse as ReplayInUse
from hanbeon.surfaces.exports.errors import ReplayInvalid as ReplayInvalid
from hanbeon.surfaces.exports.errors import ReplayNotFound as ReplayNotFound
from hanbeon.surfaces.exports.errors import ReplayQuotaExceeded as ReplayQuotaExceeded
from hanbeon.surfaces.exports.errors import ReplayTooLarge as ReplayTooLarge
from hanbeon.surfaces.exports.errors import ResultGone as ResultGone
from hanbeon.surfaces.exports.errors import ResultNotReady as ResultNotReady
from hanbeon.surfaces.offices.errors import OfficeNotFound as OfficeNotFound
from hanbeon.surfaces.offices.errors import WebhookNotFound as WebhookNotFound
from hanbeon.surfaces.schedules.errors import ScheduleDeclared as ScheduleDeclared
from hanbeon.surfaces.schedules.errors import ScheduleNameTaken as ScheduleNameTaken
from hanbeon.surfaces.schedules.errors import ScheduleNotFound as ScheduleNotFound
from hanbeon.surfaces.workflows.errors import WorkflowNotFound as WorkflowNotFound
from hanbeon.surfaces.workflows.errors import WorkflowRunNotFound as WorkflowRunNotFound
from hanbeon.surfaces.workflows.errors import WorkflowWrongState as WorkflowWrongState
