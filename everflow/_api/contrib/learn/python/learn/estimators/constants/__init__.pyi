"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.problem_types import ProblemType as ProblemType
