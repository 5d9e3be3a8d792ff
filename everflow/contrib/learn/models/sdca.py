"""Linear models of tf.contrib.learn that dual ascent trains, and the support vector machine among them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.heads.classification import BinaryLogisticHead, BinarySvmHead, binary_svm_head
from everflow.contrib.learn.heads.regression import RegressionHead
from everflow.contrib.learn.models.methods import ColumnEstimator
from everflow.contrib.learn.problem_types import PredictionKey
from everflow.contrib.learn.publishing import learn
from everflow.contrib.linear_optimizer.optimizer import SDCAOptimizer
from everflow.train.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

_LINEAR = "estimators.linear"
# The bias is the weight of a column that is always 1.
_BIAS_COLUMN = "tf_virtual_bias_column"
_LOSSES = {BinarySvmHead: "hinge_loss", BinaryLogisticHead: "logistic_loss", RegressionHead: "squared_loss"}


@learn(_LINEAR, "_SdcaUpdateWeightsHook")
class UpdateWeightsHook(SessionRunHook):
    """Makes the weights follow after each step."""

    _model: Any = None
    _train_op: Any = None

    def set_parameters(self, sdca_model: Any, train_op: Any) -> None:
        """Says which model, and which op its steps are."""
        self._model, self._train_op = sdca_model, train_op

    def begin(self) -> None:
        """Makes the op that updates the weights."""
        self._update_op = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> Any:
        """Runs it with each step."""
        return SessionRunArgs(self._update_op)


@learn(_LINEAR, "_add_bias_column")
def add_bias_column(feature_columns: Any, columns_to_tensors: Any, bias_variable: Any, columns_to_variables: Any) -> None:
    """Adds a column of ones, whose weight is the bias."""
    if any(column.name == _BIAS_COLUMN for column in feature_columns):
        raise ValueError(f"{_BIAS_COLUMN} is a reserved column name.")
    if not feature_columns:
        raise ValueError("feature_columns can't be empty.")
    column = tf.contrib.layers.real_valued_column(_BIAS_COLUMN)
    columns_to_tensors[column] = tf.ones([_batch_size(columns_to_tensors.values()), 1], dtype=tf.float32)
    columns_to_variables[column] = [bias_variable]


def _batch_size(tensors: Any) -> Any:
    for tensor in tensors:
        tensor = tensor[0] if isinstance(tensor, tuple) else tensor
        if not isinstance(tensor, tf.SparseTensor):
            return tf.shape(tensor)[0]
        shape = tf.contrib.util.constant_value(tensor.dense_shape)
        if shape is not None:
            return shape[0]
    raise ValueError("Could not infer batch size from input features.")


def loss_type(head: Any) -> str:
    """The loss of a head that dual ascent knows."""
    for kind, name in _LOSSES.items():
        if isinstance(head, kind):
            if head.logits_dimension != 1:
                raise AssertionError("SDCA only applies for logits_dimension=1.")
            return name
    raise ValueError(f"Unsupported head type: {head}")


def build(features: Any, labels: Any, mode: str, head: Any, columns: Any, optimizer: Any, weight_column_name: Any, hook: Any) -> Any:
    """A linear model with a head, whose steps are passes of dual ascent over batches."""
    loss = loss_type(head)
    with tf.variable_scope("linear", values=tuple(features.values()), partitioner=optimizer.partitioner) as scope:
        features = {**features, **tf.contrib.layers.transform_features(features, columns)}
        logits, variables, bias = tf.contrib.layers.weighted_sum_from_feature_columns(
            columns_to_tensors=features, feature_columns=columns, num_outputs=1, scope=scope
        )
        add_bias_column(columns, features, bias, variables)

    def train_op_fn(unused_loss: Any) -> Any:
        model, train_op = optimizer.get_train_step(variables, weight_column_name, loss, features, labels, get_global_step())
        if hook is not None:
            hook.set_parameters(model, train_op)
        return train_op

    ops = head.create_model_fn_ops(features=features, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits)
    return ops if hook is None else ops._replace(training_chief_hooks=[*ops.training_chief_hooks, hook])


@learn(_LINEAR, "sdca_model_fn")
def sdca_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    """The model of linear estimators whose optimizer is an SDCAOptimizer."""
    optimizer = params["optimizer"]
    if not isinstance(optimizer, SDCAOptimizer):
        raise ValueError("Optimizer must be of type SDCAOptimizer")
    hook = params.get("update_weights_hook")
    return build(features, labels, mode, params["head"], params["feature_columns"], optimizer, params["weight_column_name"], hook)


@learn("estimators.svm", "SVM", shown=True)
class SVM(ColumnEstimator):
    """A support vector machine with a linear kernel; examples are known by a column that names them."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: Any = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        self._feature_columns = feature_columns
        super().__init__(
            model_fn=sdca_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": binary_svm_head(weight_column_name=weight_column_name, enable_centered_bias=False),
                "feature_columns": feature_columns,
                "optimizer": SDCAOptimizer(
                    example_id_column=example_id_column,
                    num_loss_partitions=num_loss_partitions,
                    symmetric_l1_regularization=l1_regularization,
                    symmetric_l2_regularization=l2_regularization,
                ),
                "weight_column_name": weight_column_name,
                "update_weights_hook": UpdateWeightsHook(),
            },
            feature_engineering_fn=feature_engineering_fn,
        )

    def predict_classes(self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True) -> Any:
        """The classes of examples."""
        return self._predict_only(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, outputs: Any = None, as_iterable: bool = True
    ) -> Any:
        """The probabilities of classes, if the head has any: that of a support vector machine has none, and raises ValueError."""
        return self._predict_only(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)

    def export(  # type: ignore[override]
        self, export_dir: Any, signature_fn: Any = None, input_fn: Any = None, default_batch_size: Any = 1, exports_to_keep: Any = None
    ) -> Any:
        """Writes a session bundle."""
        return self.export_with_defaults(export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)

    def export_with_defaults(
        self, export_dir: Any, signature_fn: Any = None, input_fn: Any = None, default_batch_size: Any = 1, exports_to_keep: Any = None
    ) -> Any:
        """Writes a session bundle whose examples are parsed by the columns."""
        return self._export_only(None, signature_fn, export_dir, input_fn, None, True, default_batch_size, exports_to_keep)
