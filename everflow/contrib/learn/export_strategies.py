"""Export strategies: how an experiment writes SavedModels, and which of them stay."""

from __future__ import annotations

import collections
import os
import time
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.learn.alternatives import MODULE, SHORT_MODULE
from everflow.contrib.learn.serving_inputs import build_parsing_serving_input_fn
from everflow.estimator.arguments import parameters_of
from everflow.estimator.estimator import Estimator
from everflow.estimator.exporters import best_of_events, keep_newest, numbered_exports
from everflow.estimator.exporting import timestamped_folder
from everflow.estimator.receivers import build_parsing_serving_input_receiver_fn
from everflow.train.checkpoints.state import latest_checkpoint


@public("contrib.learn.ExportStrategy", "contrib.learn.python.learn.export_strategy.ExportStrategy")
class ExportStrategy(collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """A name for a folder, and a function that writes exports into it."""

    def __new__(cls, name: str, export_fn: Any, strip_default_attrs: Any = None) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any = None, eval_result: Any = None) -> Any:
        """Calls the function with those arguments that it takes."""
        taken = parameters_of(self.export_fn)
        if "eval_result" in taken and "checkpoint_path" not in taken:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        given = {"checkpoint_path": checkpoint_path, "eval_result": eval_result, "strip_default_attrs": self.strip_default_attrs}
        return self.export_fn(estimator, export_path, **{name: value for name, value in given.items() if name in taken})


@public("contrib.learn.make_export_strategy", f"{MODULE}.make_export_strategy", f"{SHORT_MODULE}.make_export_strategy")
def make_export_strategy(
    serving_input_fn: Any,
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: Any = 5,
    strip_default_attrs: Any = None,
) -> ExportStrategy:
    """A strategy that exports every time and keeps the newest."""

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None, strip_default_attrs: Any = False) -> Any:
        given = {
            "assets_extra": assets_extra,
            "as_text": as_text,
            "checkpoint_path": checkpoint_path,
            "strip_default_attrs": strip_default_attrs,
        }
        if isinstance(estimator, Estimator):
            if default_output_alternative_key is not None:
                raise ValueError(
                    f"default_output_alternative_key is not supported in core Estimator. Given: {default_output_alternative_key}"
                )
        else:
            given["default_output_alternative_key"] = default_output_alternative_key
        result = estimator.export_savedmodel(export_dir_base, serving_input_fn, **given)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


@public(f"{MODULE}.make_parsing_export_strategy", f"{SHORT_MODULE}.make_parsing_export_strategy")
def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: Any = 5,
    target_core: bool = False,
    strip_default_attrs: Any = None,
) -> ExportStrategy:
    """A strategy for models whose requests are tf.Examples with the features of columns."""
    if target_core:
        input_fn = build_parsing_serving_input_receiver_fn(tf.feature_column.make_parse_example_spec(feature_columns))
    else:
        input_fn = build_parsing_serving_input_fn(tf.contrib.layers.create_feature_spec_for_parsing(feature_columns))
    return make_export_strategy(input_fn, default_output_alternative_key, assets_extra, as_text, exports_to_keep, strip_default_attrs)


@public(f"{MODULE}.garbage_collect_exports", f"{SHORT_MODULE}.garbage_collect_exports")
def garbage_collect_exports(export_dir_base: Any, exports_to_keep: Any) -> None:
    """Removes all exports but the newest."""
    keep_newest(export_dir_base, exports_to_keep)


Path = collections.namedtuple("Path", ["path", "export_version"])


@public(f"{MODULE}.get_most_recent_export", f"{SHORT_MODULE}.get_most_recent_export")
def get_most_recent_export(export_dir_base: Any) -> Any:
    """The path and version of the newest export, or None."""
    tf.gfile.ListDirectory(export_dir_base)
    versions = numbered_exports(export_dir_base)
    if not versions:
        return None
    return Path(os.path.join(os.fsdecode(export_dir_base), versions[-1]), int(versions[-1]))


@public(f"{MODULE}.get_timestamped_export_dir", f"{SHORT_MODULE}.get_timestamped_export_dir")
def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A folder named after the second, which does not exist yet."""
    return timestamped_folder(export_dir_base).encode()


@public(f"{MODULE}.get_temp_export_dir", f"{SHORT_MODULE}.get_temp_export_dir")
def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """Where an export is written before it gets its name."""
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


def _loss_smaller(curr_best_eval_result: Any, cand_eval_result: Any) -> bool:
    for result, which in ((curr_best_eval_result, "curr_best_eval_result"), (cand_eval_result, "cand_eval_result")):
        if not result or "loss" not in result:
            raise ValueError(f"{which} cannot be empty or no loss is found in it.")
    return curr_best_eval_result["loss"] > cand_eval_result["loss"]


@public(f"{MODULE}.BestModelSelector", f"{SHORT_MODULE}.BestModelSelector")
class BestModelSelector:
    """Knows the best evaluation so far; files of events may tell of those before."""

    def __init__(self, event_file_pattern: Any = None, compare_fn: Any = None) -> None:
        self._is_better = compare_fn or _loss_smaller
        self._best = best_of_events(event_file_pattern, self._is_better) if event_file_pattern else None

    def update(self, checkpoint_path: Any, eval_result: Any) -> tuple[Any, Any]:
        """The checkpoint and its results if they are the best so far, else "" and None."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        if self._best is not None and not self._is_better(self._best, eval_result):
            return "", None
        self._best = eval_result
        return checkpoint_path, eval_result


@public(f"{MODULE}.make_best_model_export_strategy", f"{SHORT_MODULE}.make_best_model_export_strategy")
def make_best_model_export_strategy(
    serving_input_fn: Any,
    exports_to_keep: Any = 1,
    model_dir: str | None = None,
    event_file_pattern: Any = None,
    compare_fn: Any = None,
    default_output_alternative_key: Any = None,
    strip_default_attrs: Any = None,
) -> ExportStrategy:
    """A strategy that exports when an evaluation was better than all before."""
    writing = make_export_strategy(serving_input_fn, default_output_alternative_key, exports_to_keep=exports_to_keep)
    selector = BestModelSelector(os.path.join(model_dir, event_file_pattern) if model_dir and event_file_pattern else None, compare_fn)

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any, eval_result: Any = None) -> Any:
        checkpoint_path, _ = selector.update(checkpoint_path or latest_checkpoint(estimator.model_dir), eval_result)
        if not checkpoint_path:
            return ""
        folder = os.path.join(export_dir_base, os.path.basename(checkpoint_path))
        return writing._replace(strip_default_attrs=strip_default_attrs).export(estimator, folder, checkpoint_path)

    return ExportStrategy("best_model", export_fn, strip_default_attrs)


def _scratch(folder: str, kind: str, shown: str) -> str:
    path = os.path.join(folder, f"temp-{kind}-export-{int(time.time())}")
    if tf.gfile.Exists(path):
        raise RuntimeError(f"Failed to obtain {shown} export directory")
    tf.gfile.MakeDirs(path)
    return path


@public(f"{MODULE}.extend_export_strategy", f"{SHORT_MODULE}.extend_export_strategy")
def extend_export_strategy(base_export_strategy: Any, post_export_fn: Any, post_export_name: Any = None) -> ExportStrategy:
    """A strategy that lets a function rework what another strategy has exported."""

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> Any:
        folder = os.fsdecode(export_dir_base)
        base_folder = _scratch(folder, "base", "base")
        base = base_export_strategy.export(estimator, base_folder, checkpoint_path)
        post_folder = _scratch(folder, "post", "temp")
        post = os.fsdecode(post_export_fn(base, post_folder))
        if not post.startswith(post_folder):
            raise ValueError(f"post_export_fn must return a sub-directory of {post_folder}")
        export = os.path.join(folder, os.path.relpath(post, post_folder))
        if tf.gfile.Exists(export):
            raise RuntimeError("Failed to obtain final export directory")
        tf.gfile.Rename(post, export)
        for scratch in (base_folder, post_folder):
            tf.gfile.DeleteRecursively(scratch)
        return export

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
