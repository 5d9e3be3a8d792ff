"""Exporters: when train_and_evaluate writes SavedModels, and which of them stay."""

from __future__ import annotations

import abc
import os
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.io.events import summary_iterator
from everflow.platform import logging


@public("estimator.Exporter")
class Exporter(abc.ABC):
    """Exports a model after evaluations."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The folder below `export`."""

    @abc.abstractmethod
    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: bool) -> Any:
        """Exports, or does not."""


def numbered_exports(folder: Any) -> list[str]:
    """The exports in a folder, oldest first."""
    if not tf.gfile.Exists(folder):
        return []
    names = [name.rstrip("/") for name in tf.gfile.ListDirectory(folder)]
    return sorted((name for name in names if name.isdigit() and len(name) == 10), key=int)


def keep_newest(folder: Any, count: int | None) -> None:
    """Removes all exports but so many; None keeps all."""
    if count is None:
        return
    for name in numbered_exports(folder)[:-count]:
        try:
            tf.gfile.DeleteRecursively(os.path.join(folder, name))
        except tf.errors.NotFoundError as e:
            logging.warning("Can not delete %s recursively: %s", name, e)


class _Saving(Exporter):
    """Writes a SavedModel when asked."""

    def __init__(self, name: str, serving_input_receiver_fn: Any, assets_extra: Any, as_text: bool) -> None:
        self._name, self._receiver_fn, self._assets_extra, self._as_text = name, serving_input_receiver_fn, assets_extra, as_text

    @property
    def name(self) -> str:
        """The folder below `export`."""
        return self._name

    def _write(self, estimator: Any, export_path: Any, checkpoint_path: Any) -> Any:
        return estimator.export_saved_model(
            export_path, self._receiver_fn, assets_extra=self._assets_extra, as_text=self._as_text, checkpoint_path=checkpoint_path
        )


@public("estimator.FinalExporter")
class FinalExporter(_Saving):
    """Exports once, when training has ended."""

    def __init__(self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: bool) -> Any:
        """Exports if this is the last time."""
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)


@public("estimator.LatestExporter")
class LatestExporter(_Saving):
    """Exports after every evaluation, and keeps the newest ones."""

    def __init__(
        self, name: str, serving_input_receiver_fn: Any, assets_extra: Any = None, as_text: bool = False, exports_to_keep: int | None = 5
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")
        self._exports_to_keep = exports_to_keep

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: bool) -> Any:
        """Exports, and removes the oldest exports."""
        result = self._write(estimator, export_path, checkpoint_path)
        keep_newest(export_path, self._exports_to_keep)
        return result


@internal("estimator.exporter._loss_smaller")
def _loss_smaller(best_eval_result: Any, current_eval_result: Any) -> bool:
    """Whether the loss is smaller than the best so far."""
    for result, which in ((best_eval_result, "best_eval_result"), (current_eval_result, "current_eval_result")):
        if not result or "loss" not in result:
            raise ValueError(f"{which} cannot be empty or no loss is found in it.")
    return best_eval_result["loss"] > current_eval_result["loss"]


def best_of_events(pattern: str, better: Any) -> Any:
    """The best evaluation that events of earlier trainings tell of, or None."""
    best = None
    for path in sorted(tf.gfile.Glob(pattern)) if tf.gfile.Exists(os.path.dirname(pattern)) else ():
        for event in summary_iterator(path):
            result = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
            if result and (best is None or better(best, result)):
                best = result
    return best


@public("estimator.BestExporter")
class BestExporter(_Saving):
    """Exports when an evaluation was better than all before."""

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: Any = "eval/*.tfevents.*",
        compare_fn: Any = _loss_smaller,
        assets_extra: Any = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._compare_fn = compare_fn
        if self._compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
        self._exports_to_keep, self._event_file_pattern = exports_to_keep, event_file_pattern
        self._best: Any = None
        self._model_dir: Any = None

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: bool) -> Any:
        """Exports if the evaluation was the best."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best = best_of_events(os.path.join(estimator.model_dir, self._event_file_pattern), self._compare_fn)
        if self._best is not None and not self._compare_fn(best_eval_result=self._best, current_eval_result=eval_result):
            return None
        logging.info("Performing best model export.")
        self._best = eval_result
        result = self._write(estimator, export_path, checkpoint_path)
        keep_newest(export_path, self._exports_to_keep)
        return result


@internal("contrib.estimator.python.estimator.exporter.StepsExporter")
@public("contrib.estimator.StepsExporter")
class StepsExporter(_Saving):
    """Exports at given steps: at the first evaluation that has reached one of them."""

    def __init__(
        self,
        steps_to_keep: Any,
        name: str = "steps_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: Any = "eval/*.tfevents.*",
        assets_extra: Any = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._model_dir: Any = None
        self._steps = sorted({step for step in steps_to_keep if isinstance(step, int) and step > 0})
        if not self._steps:
            raise ValueError("`steps_to_keep` list must have at least one positive integer")
        if self._steps != sorted(set(steps_to_keep)):
            logging.warning("The list of steps will be sorted and only positive integers are kept: %s", self._steps)

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: bool) -> Any:
        """Exports if a step was reached."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            # A training that was interrupted has exported some of them already.
            self._model_dir = estimator.model_dir
            pattern = os.path.join(estimator.model_dir, self._event_file_pattern)
            done = [event.step for path in sorted(tf.gfile.Glob(pattern)) for event in summary_iterator(path)]
            self._steps = [step for step in self._steps if step > max(done, default=0)]
        if not eval_result or "global_step" not in eval_result:
            raise ValueError(
                "`eval_result` is empty, or does not have global step. This should never happen as Estimator always sets the global "
                "step in `eval_result`. Please file a bug report."
            )
        reached = [step for step in self._steps if step <= eval_result["global_step"]]
        if not reached:
            return None
        self._steps = self._steps[len(reached) :]
        logging.info("Performing StepsExporter export.")
        return self._write(estimator, export_path, checkpoint_path)
