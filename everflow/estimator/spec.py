"""EstimatorSpec: what a model function gives back."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.export_outputs import ExportOutput, PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.scaffold import Scaffold
from everflow.train.session_run_hook import SessionRunHook

# Keys under which losses are found in results.
LOSS = internal("estimator.model_fn.LOSS_METRIC_KEY")("loss")
AVERAGE_LOSS = internal("estimator.model_fn.AVERAGE_LOSS_METRIC_KEY")("average_loss")


def _from_this_graph(tensor: Any, what: str) -> None:
    if not in_eager_mode() and getattr(tensor, "graph", None) is not get_default_graph():
        raise ValueError(
            f"{what} must be from the default graph. Possible causes of this error include: \n\n1) {what} was created outside "
            "the context of the default graph.\n\n2) The object passed through to EstimatorSpec was not created in the most "
            f'recent call to "model_fn". Given: {tensor}'
        )


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    if not isinstance(loss, Tensor):
        if not tf.is_tensor(loss) or isinstance(loss, SparseTensor):
            raise TypeError(f"loss must be Tensor, given: {loss}")
        loss = tf.convert_to_tensor(loss)
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(tf.TensorShape([])):
        loss = tf.reshape(loss, [])
    _from_this_graph(loss, LOSS)
    return loss


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    # A variable assignment in eager style gives an object with an op.
    if not isinstance(train_op, (Tensor, Operation)):
        if not hasattr(train_op, "op"):
            raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
        train_op = train_op.op
    _from_this_graph(train_op, "train_op")
    return train_op


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    named = predictions if isinstance(predictions, dict) else {"": predictions}
    for key, value in named.items():
        where = f"predictions[{key}]" if key else "predictions"
        if not tf.is_tensor(value) or isinstance(value, SparseTensor):
            raise TypeError(f"{where} must be Tensor, given: {value}")
        _from_this_graph(value, where)
    return predictions


def checked_metrics(eval_metric_ops: Any) -> dict[str, Any]:
    """Metrics as values and update ops; those of Keras are local variables from now on."""
    if eval_metric_ops is None:
        return {}
    if not isinstance(eval_metric_ops, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {eval_metric_ops}")
    found = {}
    for key, metric in eval_metric_ops.items():
        if hasattr(metric, "result") and hasattr(metric, "updates"):
            if not metric.updates:
                raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
            for update in metric.updates:
                _from_this_graph(update, f"eval_metric_ops[{key}]")
            for variable in metric.variables:
                for collection in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
                    if not any(variable is known for known in tf.get_collection(collection)):
                        tf.add_to_collection(collection, variable)
            found[key] = (metric.result(), metric.updates[0])
            continue
        if not isinstance(metric, tuple) or len(metric) != 2:
            raise TypeError(f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {metric} for key: {key}")
        for part in metric:
            if isinstance(part, (Tensor, Operation)):
                _from_this_graph(part, f"eval_metric_ops[{key}]")
        found[key] = metric
    return found


def checked_export_outputs(export_outputs: Any, predictions: Any, mode: str) -> Any:
    """The outputs of an exported model, with one under the name that serving asks for."""
    if mode != ModeKeys.PREDICT:
        return None
    if export_outputs is None:
        export_outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    for value in export_outputs.values():
        if not isinstance(value, ExportOutput):
            raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}")
    if len(export_outputs) == 1:
        ((_, only),) = export_outputs.items()
        return {**export_outputs, DEFAULT_SERVING_SIGNATURE_DEF_KEY: only}
    if DEFAULT_SERVING_SIGNATURE_DEF_KEY not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return export_outputs


def _checked_hooks(*kinds: Any) -> list[tuple[Any, ...]]:
    checked = []
    for hooks in kinds:
        hooks = tuple(hooks or ())
        for hook in hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
        checked.append(hooks)
    return checked


@public("estimator.EstimatorSpec")
class EstimatorSpec(
    collections.namedtuple(
        "EstimatorSpec",
        (
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "export_outputs",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "evaluation_hooks",
            "prediction_hooks",
        ),
    )
):
    """The ops of a model in one mode, and what to do around them."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        export_outputs = checked_export_outputs(export_outputs, predictions, mode)
        hooks = _checked_hooks(training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks)
        eval_metric_ops = checked_metrics(eval_metric_ops)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops,
            export_outputs=export_outputs,
            training_hooks=hooks[0],
            training_chief_hooks=hooks[1],
            scaffold=scaffold,
            evaluation_hooks=hooks[2],
            prediction_hooks=hooks[3],
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """A spec with some fields changed, which is checked as any other."""
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwds})
