"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.synthetic import circles as circles
from everflow.contrib.learn.synthetic import spirals as spirals
