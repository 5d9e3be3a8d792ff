"""A monitor that evaluates while a model trains, and may stop it early."""

from __future__ import annotations

import copy
import time
from typing import Any

from everflow.contrib.learn.monitors.base import MODULE, EveryN
from everflow.contrib.learn.publishing import learn
from everflow.estimator.estimator import Estimator
from everflow.platform import logging
from everflow.train.checkpoints import management


@learn(MODULE, "ValidationMonitor")
class ValidationMonitor(EveryN):
    """Evaluates new checkpoints; stops training where a metric has not become better for so many steps."""

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: Any = None,
        eval_steps: Any = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: Any = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: Any = None,
        check_interval_secs: Any = 5,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn, self.batch_size = x, y, input_fn, batch_size
        self.eval_steps, self.metrics, self.hooks, self.name = eval_steps, metrics, hooks, name
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric, self.early_stopping_metric_minimize = early_stopping_metric, early_stopping_metric_minimize
        self._best_value_step: Any = None
        self._best_value: Any = None
        self._best_metrics: Any = None
        self._early_stopped = False
        self._latest_path: Any = None
        self._latest_path_step: Any = None
        self._last_check: float | None = None
        self._check_interval_secs = check_interval_secs

    @property
    def early_stopped(self) -> bool:
        """Whether it ended training."""
        return self._early_stopped

    @property
    def best_step(self) -> Any:
        """The step of the best value."""
        return self._best_value_step

    @property
    def best_value(self) -> Any:
        """The best value of the metric so far."""
        return self._best_value

    @property
    def best_metrics(self) -> Any:
        """All metrics of that step."""
        return self._best_metrics

    def _evaluate(self) -> Any:
        given = {"input_fn": self.input_fn, "steps": self.eval_steps, "hooks": self.hooks, "name": self.name}
        old = {"x": self.x, "y": self.y, "batch_size": self.batch_size, "metrics": self.metrics}
        if not isinstance(self._estimator, Estimator):
            return self._estimator.evaluate(**given, **old)
        if any(value is not None for value in old.values()):
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, batch_size, metrics. "
                "Should set as `None` in ValidationMonitor"
            )
        return self._estimator.evaluate(**given)

    def _new_checkpoint(self, step: int) -> bool:
        """Whether there is one; it is looked for once in a while."""
        now = time.time()
        if self._check_interval_secs is not None and self._last_check is not None and now - self._last_check <= self._check_interval_secs:
            logging.debug(
                "Skipping evaluation since less than %d seconds have passed since last check for a new checkpoint.",
                self._check_interval_secs,
            )
            return False
        self._last_check = now
        latest = management.latest_checkpoint(self._estimator.model_dir)
        if latest is None:
            logging.debug("Skipping evaluation since model has not been saved yet at step %d.", step)
            return False
        if latest == self._latest_path:
            logging.debug("Skipping evaluation due to same checkpoint %s for step %d as for step %d.", latest, step, self._latest_path_step)
            return False
        self._latest_path, self._latest_path_step = latest, step
        return True

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Evaluates, and says whether to stop."""
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._new_checkpoint(step):
            return False
        found = self._evaluate()
        logging.info("Validation (step %d): %s", step, ", ".join(f"{name} = {value!s}" for name, value in found.items()))
        return self.early_stopping_rounds is not None and self._is_stale(step, found)

    def _is_stale(self, step: int, found: Any) -> bool:
        if self.early_stopping_metric not in found:
            raise ValueError(f"Metric {self.early_stopping_metric} missing from outputs {set(found)}.")
        value = found[self.early_stopping_metric]
        minimize = self.early_stopping_metric_minimize
        if self._best_value is None or (value < self._best_value if minimize else value > self._best_value):
            self._best_value, self._best_metrics, self._best_value_step = value, copy.deepcopy(found), step
        if step - self._best_value_step < self.early_stopping_rounds:
            return False
        logging.info(f"Stopping. Best step: {self._best_value_step} with {self.early_stopping_metric} = {self._best_value}.")
        self._early_stopped = True
        return True
