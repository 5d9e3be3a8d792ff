"""Monitors that look at values: log them, keep them, compare them, stop at NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.learn.monitors.base import MODULE, BaseMonitor, EveryN, value_of
from everflow.contrib.learn.publishing import learn
from everflow.graph.stacks import get_default_graph
from everflow.platform import logging


def _in_words(names: dict[str, Any], outputs: Any) -> str:
    return ", ".join(f"{tag} = {value_of(outputs, tensor)!s}" for tag, tensor in names.items() if tensor in outputs)


@learn(MODULE, "PrintTensor")
class PrintTensor(EveryN):
    """Logs tensors."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._tensor_names = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> Any:
        """Asks for the tensors."""
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        logging.info("Step %d: %s", step, _in_words(self._tensor_names, outputs))


@learn(MODULE, "LoggingTrainable")
class LoggingTrainable(EveryN):
    """Logs the trainable variables of a scope."""

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: dict[str, str] = {}

    def every_n_step_begin(self, step: int) -> Any:
        """Asks for the variables."""
        super().every_n_step_begin(step)
        variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in variables}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        logging.info("Logging Trainable: Step %d: %s", step, _in_words(self._names, outputs))


@learn(MODULE, "CaptureVariable")
class CaptureVariable(EveryN):
    """Keeps the values of a variable, by step."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by step."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> Any:
        """Asks for the variable."""
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Keeps its value."""
        super().every_n_step_end(step, outputs)
        self._var_values[step] = value_of(outputs, self._var_name)


@learn(MODULE, "GraphDump")
class GraphDump(BaseMonitor):
    """Keeps the values of nearly all tensors, to find where two runs part. They are large."""

    IGNORE_OPS = ["Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice"]

    def __init__(self, ignore_ops: Any = None) -> None:
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._data: dict[int, Any] = {}

    def begin(self, max_steps: int | None = None) -> None:
        """Collects the first outputs of ops."""
        super().begin(max_steps=max_steps)
        self._tensors = []
        for op in get_default_graph().get_operations():
            if op.type in self._ignore_ops:
                continue
            logging.info("op=%s name=%s.", op.type, op.name)
            self._tensors.extend(op.outputs[:1])

    def step_begin(self, step: int) -> Any:
        """Asks for them."""
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: int, output: Any) -> Any:
        """Keeps their values."""
        super().step_end(step, output)
        self._data[step] = output

    @property
    def data(self) -> dict[int, Any]:
        """The values by step."""
        return self._data

    def compare(self, other_dump: Any, step: int, atol: float = 1e-06) -> tuple[list[Any], dict[Any, Any]]:
        """The names of tensors that are alike in both at a step, and the differences of the others."""
        matched: list[Any] = []
        non_matched: dict[Any, Any] = {}
        ours, theirs = self.data.get(step, {}), other_dump.data.get(step, {})
        for key in ours:
            if not isinstance(key, str):
                continue
            if key not in theirs:
                raise ValueError(f"{key} missing at step {step}.")
            first, second = value_of(ours, key), value_of(theirs, key)
            if isinstance(first, str):
                continue
            if isinstance(first, np.ndarray):
                if np.allclose(first, second, atol=atol):
                    matched.append(key)
                else:
                    non_matched[key] = first - second
            elif first == second:
                matched.append(key)
            else:
                non_matched[key] = (first, second)
        return matched, non_matched


@learn(MODULE, "NanLossDuringTrainingError", shown=True)
class NanLossDuringTrainingError(RuntimeError):
    """A model diverged."""

    def __str__(self) -> str:
        return "NaN loss during training."


@learn(MODULE, "NanLoss")
class NanLoss(EveryN):
    """Raises, or stops, where the loss is NaN."""

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> Any:
        """Asks for the loss."""
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: Any) -> Any:
        """Looks at it."""
        super().every_n_step_end(step, outputs)
        if not np.isnan(value_of(outputs, self._loss_tensor)):
            return False
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        return True
