"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.export_strategies import ExportStrategy as ExportStrategy
