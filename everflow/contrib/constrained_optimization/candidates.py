"""Which of several candidate solutions, or which mixture of them, to take."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import public


def _check(objective_vector: Any, constraints_matrix: Any) -> None:
    if np.ndim(objective_vector) != 1 or np.ndim(constraints_matrix) != 2 or np.shape(constraints_matrix)[1] != len(objective_vector):
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of candidates, and m is the "
            "number of constraints"
        )


@public("contrib.constrained_optimization.find_best_candidate_distribution")
def find_best_candidate_distribution(objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0) -> Any:
    """The distribution over candidates with the least objective whose constraints are at most `epsilon`, or as small as they can be."""
    import scipy.optimize

    _check(objective_vector, constraints_matrix)
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    constraints, count = np.asarray(constraints_matrix, float), len(objective_vector)
    ones, bounds = np.ones((1, count)), [(0.0, 1.0)] * count
    # First: how small the largest violation can be. It is a variable of its own, the last one.
    least = scipy.optimize.linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.hstack([constraints, -np.ones((len(constraints), 1))]),
        b_ub=np.zeros(len(constraints)),
        A_eq=np.append(ones, [[0.0]], axis=1),
        b_eq=[1.0],
        bounds=[*bounds, (None, None)],
    )
    allowed = max(epsilon, least.x[-1] + 1e-9 if least.x[-1] > epsilon else epsilon)
    found = scipy.optimize.linprog(
        np.asarray(objective_vector, float), A_ub=constraints, b_ub=np.full(len(constraints), allowed), A_eq=ones, b_eq=[1.0], bounds=bounds
    )
    if not found.success:
        raise RuntimeError(f"The best distribution was not found: {found.message}")
    return found.x


@public("contrib.constrained_optimization.find_best_candidate_index")
def find_best_candidate_index(objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False) -> int:
    """The candidate whose worst rank among violations (and objectives, if wished) is best; of several, that with the least objective."""
    import scipy.stats

    _check(objective_vector, constraints_matrix)
    rows = list(np.maximum(0.0, np.asarray(constraints_matrix, float)))
    if rank_objectives:
        rows.append(np.asarray(objective_vector, float))
    worst = np.max([scipy.stats.rankdata(row, method="min") for row in rows], axis=0) if rows else np.zeros(len(objective_vector))
    best = np.flatnonzero(worst == worst.min())
    return int(best[np.argmin(np.asarray(objective_vector)[best])])
