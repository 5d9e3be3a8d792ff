"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.exporting import GraphRewriteSpec as GraphRewriteSpec
