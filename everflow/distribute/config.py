"""How an Estimator trains and evaluates on a cluster."""

from __future__ import annotations

import collections
from typing import Any

from everflow.api import public


@public("contrib.distribute.DistributeConfig")
class DistributeConfig(collections.namedtuple("DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"])):
    """A strategy to train with, one to evaluate with, and a cluster of servers that one client drives."""

    def __new__(cls, train_distribute: Any = None, eval_distribute: Any = None, remote_cluster: Any = None) -> DistributeConfig:
        return super().__new__(cls, train_distribute, eval_distribute, remote_cluster)
