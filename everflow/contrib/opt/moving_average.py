"""tf.contrib.opt.MovingAverageOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import control_dependencies
from everflow.train.checkpoints.saveable_making import op_list_to_dict
from everflow.train.optimizer import Optimizer


@public("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """Keeps moving averages of what another optimizer trains; `swapping_saver` writes them in the place of the variables."""

    def __init__(self, opt: Any, average_decay: float = 0.9999, num_updates: Any = None, sequential_update: bool = True) -> None:
        super().__init__(False, "MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        self._swaps: dict[str, str] | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the gradients, then (or at the same time) averages."""
        pairs = list(grads_and_vars)
        train = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [var for _, var in pairs]
        with control_dependencies([train] if self._sequential_update else []):
            averaged = self._ema.apply(variables)
        self._swaps = {}
        for var in variables:
            average = self._ema.average(var)
            self._swaps[var.op.name], self._swaps[average.op.name] = average.op.name, var.op.name
        return tf.group(train, averaged, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A saver that writes averages under the names of variables, and variables under those of their averages."""
        if self._swaps is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        entries = op_list_to_dict(tf.global_variables() if var_list is None else var_list, convert_variable_to_tensor=False)
        known = {part.op.name: part for value in entries.values() for part in _parts(value)}
        swapped = {}
        for entry, value in entries.items():
            others = [self._other(part, known) for part in _parts(value)]
            swapped[entry] = others if isinstance(value, (list, tuple)) or hasattr(value, "_variable_list") else others[0]
        return tf.train.Saver(swapped, name=name, **kwargs)

    def _other(self, variable: Any, known: dict[str, Any]) -> Any:
        other = self._swaps.get(variable.op.name)  # type: ignore[union-attr]
        if other is None:
            return variable
        if other not in known:
            raise ValueError(f"Variable to swap {other} is not in variables to save {sorted(known)}")
        return known[other]


def _parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) or hasattr(value, "_variable_list") else [value]
