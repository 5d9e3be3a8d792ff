"""`sklearn.utils.linear_assignment_`: who gets what, so that all together pay the least."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


def linear_assignment(X: Any) -> Any:
    """Pairs (row, column), one below the other."""
    return np.column_stack(linear_sum_assignment(X))
