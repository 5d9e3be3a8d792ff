"""Writing estimators as SavedModels."""

from __future__ import annotations

import os
import time
from typing import Any

import everflow as tf
from everflow.estimator.export_outputs import EvalOutput, TrainOutput
from everflow.estimator.mode_keys import EXPORT_TAGS, ModeKeys
from everflow.estimator.receivers import ServingInputReceiver, SupervisedInputReceiver, TensorServingInputReceiver
from everflow.platform import logging
from everflow.saved_model import constants
from everflow.saved_model.builder import SavedModelBuilder
from everflow.saved_model.signatures import is_valid_signature
from everflow.train.checkpoints.saver import Saver
from everflow.train.checkpoints.state import latest_checkpoint

_TRIES = 10


def timestamped_folder(export_dir_base: Any) -> str:
    """A folder named after the second, which does not exist yet."""
    base = os.fsdecode(export_dir_base)
    for _ in range(_TRIES):
        folder = os.path.join(base, str(int(time.time())))
        if not tf.gfile.Exists(folder):
            return folder
        time.sleep(1)
        logging.warning("Directory %s already exists; retrying", folder)
    raise RuntimeError(f"Failed to obtain a unique export directory name after {_TRIES} attempts.")


def export(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn_map: Any,
    assets_extra: Any,
    as_text: bool,
    checkpoint_path: Any,
    strip_default_attrs: bool,
) -> bytes:
    """Writes the graphs of modes with the variables of a checkpoint."""
    if not checkpoint_path:
        checkpoint_path = estimator.latest_checkpoint() or _start_of(estimator._warm_start_settings)
        if not checkpoint_path:
            raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if input_receiver_fn_map.get(mode)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {list(input_receiver_fn_map)}.")
    folder = timestamped_folder(export_dir_base)
    # Readers who watch the base see the folder only when it is whole.
    scratch = os.path.join(os.path.dirname(folder), f"temp-{os.path.basename(folder).encode()!r}")
    builder = SavedModelBuilder(scratch)
    saved = False
    for mode in modes:
        with estimator._exporting():
            _add_graph(
                estimator,
                builder,
                mode,
                input_receiver_fn_map[mode],
                checkpoint_path,
                save_variables=not saved,
                strip_default_attrs=strip_default_attrs,
            )
        saved = True
    builder.save(as_text)
    if assets_extra:
        for name, source in assets_extra.items():
            target = os.path.join(scratch, constants.EXTRA_ASSETS_DIRECTORY, name)
            tf.gfile.MakeDirs(os.path.dirname(target))
            tf.gfile.Copy(source, target)
    tf.gfile.Rename(scratch, folder)
    return folder.encode()


def _add_graph(
    estimator: Any, builder: Any, mode: str, input_receiver_fn: Any, checkpoint_path: str, save_variables: bool, strip_default_attrs: bool
) -> None:
    with tf.Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        tf.set_random_seed(estimator._config.tf_random_seed)
        receiver = input_receiver_fn()
        _check_receiver(receiver, mode)
        spec = estimator._call_model_fn(receiver.features, getattr(receiver, "labels", None), mode, estimator.config)
        signatures = _signatures(
            receiver.receiver_tensors,
            _outputs_for(mode, spec),
            getattr(receiver, "receiver_tensors_alternatives", None),
            serving_only=mode == ModeKeys.PREDICT,
        )
        with tf.Session(config=estimator._session_config) as session:
            local_init_op = spec.scaffold.local_init_op if spec.scaffold.local_init_op is not None else _default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            _restore(saver, session, checkpoint_path, mode)
            arguments = {
                "tags": EXPORT_TAGS[mode],
                "signature_def_map": signatures,
                "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                "main_op": local_init_op,
                "saver": saver,
                "strip_default_attrs": strip_default_attrs,
            }
            if mode == ModeKeys.TRAIN:
                builder._add_train_op(spec.train_op)
            if save_variables:
                builder.add_meta_graph_and_variables(session, **arguments)
            else:
                builder.add_meta_graph(**arguments)


def _default_local_init_op() -> Any:
    return tf.group(tf.local_variables_initializer(), tf.tables_initializer())


def _start_of(warm_start_settings: Any) -> Any:
    """The checkpoint that a model which was never trained starts from."""
    start = warm_start_settings and warm_start_settings.ckpt_to_initialize_from
    return latest_checkpoint(start) if start and tf.gfile.IsDirectory(start) else start


def _restore(saver: Any, session: Any, checkpoint_path: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except tf.errors.NotFoundError as e:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect variables "
            f"that were not saved in the checkpoint.\n\nEncountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{e}"
        ) from e


def _check_receiver(receiver: Any, mode: str) -> None:
    kinds = (ServingInputReceiver, TensorServingInputReceiver) if mode == ModeKeys.PREDICT else (SupervisedInputReceiver,)
    if not isinstance(receiver, kinds) and not (hasattr(receiver, "features") and hasattr(receiver, "receiver_tensors")):
        raise ValueError(f"input_receiver_fn must return a {kinds[0].__name__} for mode {mode}. Got: {receiver}")


def _outputs_for(mode: str, spec: Any) -> dict[str, Any]:
    if mode == ModeKeys.PREDICT:
        if spec.export_outputs is None:
            raise ValueError("`export_outputs` must be defined in the EstimatorSpec to export a model.")
        return spec.export_outputs
    output = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    key = constants.DEFAULT_TRAIN_SIGNATURE_DEF_KEY if mode == ModeKeys.TRAIN else constants.DEFAULT_EVAL_SIGNATURE_DEF_KEY
    # A model without predictions has an empty dict of them, which can't be exported.
    predictions = None if isinstance(spec.predictions, dict) and not spec.predictions else spec.predictions
    return {key: output(loss=spec.loss, predictions=predictions, metrics=spec.eval_metric_ops)}


def _signatures(receiver_tensors: Any, export_outputs: dict[str, Any], alternatives: Any, serving_only: bool) -> dict[str, Any]:
    """Signatures for all outputs; those that can't be are left out, and the log says why."""
    if not isinstance(receiver_tensors, dict):
        receiver_tensors = {"input": receiver_tensors}
    found: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    for key, output in export_outputs.items():
        name = key or "None"
        try:
            found[name] = output.as_signature_def(receiver_tensors)
        except ValueError as e:
            excluded[name] = str(e)
    for receiver_name, tensors in (alternatives or {}).items():
        for key, output in export_outputs.items():
            name = f"{receiver_name}:{key or 'None'}"
            try:
                found[name] = output.as_signature_def(tensors)
            except ValueError as e:
                excluded[name] = str(e)
    _report(found, excluded)
    return {key: value for key, value in found.items() if is_valid_signature(value) or not serving_only}


_METHODS = {
    "Classify": constants.CLASSIFY_METHOD_NAME,
    "Regress": constants.REGRESS_METHOD_NAME,
    "Predict": constants.PREDICT_METHOD_NAME,
    "Train": constants.SUPERVISED_TRAIN_METHOD_NAME,
    "Eval": constants.SUPERVISED_EVAL_METHOD_NAME,
}


def _report(found: dict[str, Any], excluded: dict[str, str]) -> None:
    for title, method in _METHODS.items():
        names = [name for name, signature in found.items() if signature.method_name == method]
        logging.info("Signatures INCLUDED in export for %s: %s", title, names or None)
    if excluded:
        logging.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for name, message in excluded.items():
            logging.info("'%s' : %s", name, message)
    if not found:
        logging.warning("Export includes no signatures!")
    elif constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found and not any(
        s.method_name.startswith("tensorflow/supervised") for s in found.values()
    ):
        logging.warning("Export includes no default signature!")
