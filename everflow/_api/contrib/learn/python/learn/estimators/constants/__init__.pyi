"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.problem_types import INPUT_FEATURE_KEYS as _COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS
COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS = _COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS
from everflow.contrib.learn.problem_types import ProblemType as ProblemType
