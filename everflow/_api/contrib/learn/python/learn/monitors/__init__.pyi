"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.monitors.base import BaseMonitor as BaseMonitor
from everflow.contrib.learn.monitors.watching import CaptureVariable as CaptureVariable
from everflow.contrib.learn.monitors.writing import CheckpointSaver as CheckpointSaver
from everflow.contrib.learn.monitors.base import EveryN as EveryN
from everflow.contrib.learn.monitors.writing import ExportMonitor as ExportMonitor
from everflow.contrib.learn.monitors.watching import GraphDump as GraphDump
from everflow.contrib.learn.monitors.watching import LoggingTrainable as LoggingTrainable
from everflow.contrib.learn.monitors.watching import NanLoss as NanLoss
from everflow.contrib.learn.monitors.watching import NanLossDuringTrainingError as NanLossDuringTrainingError
from everflow.contrib.learn.monitors.watching import PrintTensor as PrintTensor
from everflow.contrib.learn.monitors.hooks import RunHookAdapterForMonitors as RunHookAdapterForMonitors
from everflow.contrib.learn.monitors.writing import StepCounter as StepCounter
from everflow.contrib.learn.monitors.base import StopAtStep as StopAtStep
from everflow.contrib.learn.monitors.writing import SummarySaver as SummarySaver
from everflow.contrib.learn.monitors.validation import ValidationMonitor as ValidationMonitor
from everflow.contrib.learn.monitors.hooks import as_graph_element as __as_graph_element
_as_graph_element = __as_graph_element
from everflow.contrib.learn.monitors.writing import get_default_monitors as get_default_monitors
from everflow.contrib.learn.monitors.hooks import replace_monitors_with_hooks as replace_monitors_with_hooks
