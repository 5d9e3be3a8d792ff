"""input_layer, linear_model and sequence_input_layer: features through columns, with variables of the current variable scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.checks import check_static_batch_sizes, checked_columns
from everflow.feature_column.linear import fan_in, weighted_ids, weighted_numbers
from everflow.feature_column.protocol import OldCategoricalColumn, OldDenseColumn, OldSequenceDenseColumn
from everflow.feature_column.transformation import FeatureTransformationCache
from everflow.graph.scopes import name_scope
from everflow.keras.model import Model
from everflow.ops.variables.variable_scope import variable_scope
from everflow.templates import make_template


def _with_defaults(weight_collections: Sequence[str] | None) -> list[Any]:
    """The collections for variables: those given, and the two that models are found in."""
    found = list(weight_collections or ())
    for key in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES):
        if key not in found:
            found.append(key)
    return found


def _scope_variables() -> Any:
    """The variables made in the current scope."""
    return tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=tf.get_variable_scope().name)


def _input_layer(
    features: Any,
    feature_columns: Any,
    weight_collections: Sequence[str] | None,
    trainable: bool,
    cols_to_vars: Any,
    cols_to_output_tensors: Any,
    scope: Any,
    from_template: bool,
) -> Any:
    columns = checked_columns(feature_columns)
    for column in columns:
        if not isinstance(column, OldDenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an embedding_column or "
                f"indicator_column. Given: {column}"
            )
    collections = _with_defaults(weight_collections)

    def combined() -> Any:
        cache = FeatureTransformationCache(features)
        tensors = []
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name):
                tensor = column._get_dense_tensor(cache, weight_collections=collections, trainable=trainable)
                output = tf.reshape(tensor, shape=(tf.shape(tensor)[0], column._variable_shape.num_elements()))
                tensors.append(output)
                if cols_to_vars is not None:
                    cols_to_vars[column] = _scope_variables()
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = output
        check_static_batch_sizes(tensors, columns)
        return tf.concat(tensors, 1)

    # A template already stands in its own scope.
    if from_template:
        return combined()
    with variable_scope(scope, default_name="input_layer", values=features.values()):
        return combined()


@public("feature_column.input_layer")
def input_layer(
    features: Any,
    feature_columns: Any,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: Any = None,
    cols_to_output_tensors: Any = None,
) -> Any:
    """The dense tensors of all columns side by side, in the order of the columns' names."""
    return _input_layer(
        features, feature_columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors, None, from_template=False
    )


@public("contrib.slim.InputLayer")
@internal("feature_column.feature_column.InputLayer")
class InputLayer:
    """input_layer as an object that keeps its variables from call to call."""

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Sequence[str] | None = None,
        trainable: bool = True,
        cols_to_vars: Any = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self._feature_columns, self._weight_collections, self._trainable = feature_columns, weight_collections, trainable
        self._cols_to_vars, self._name = cols_to_vars, name
        self._template = make_template(self._name, _input_layer, create_scope_now_=create_scope_now)
        self._scope = self._template.variable_scope

    def __call__(self, features: Any) -> Any:
        return self._template(
            features=features,
            feature_columns=self._feature_columns,
            weight_collections=self._weight_collections,
            trainable=self._trainable,
            cols_to_vars=None,
            cols_to_output_tensors=None,
            scope=self._scope,
            from_template=True,
        )

    @property
    def name(self) -> str:
        """The name as given."""
        return self._name

    @property
    def non_trainable_variables(self) -> Any:
        """Variables that training leaves alone."""
        return self._template.non_trainable_variables

    @property
    def non_trainable_weights(self) -> Any:
        """Variables that training leaves alone."""
        return self._template.non_trainable_weights

    @property
    def trainable_variables(self) -> Any:
        """Variables that training changes."""
        return self._template.trainable_variables

    @property
    def trainable_weights(self) -> Any:
        """Variables that training changes."""
        return self._template.trainable_weights

    @property
    def variables(self) -> Any:
        """All variables."""
        return self._template.variables

    @property
    def weights(self) -> Any:
        """All variables."""
        return self._template.weights


def _last_part(scope: Any) -> str:
    return scope.name.rsplit("/", 1)[-1]


@internal("feature_column.feature_column._LinearModel")
class ScopedLinearModel(Model):
    """linear_model as an object that keeps its variables from call to call."""

    _feature_columns: list[Any]
    _weight_collections: list[Any]
    _units: int
    _sparse_combiner: str
    _trained: bool
    _own_variables: Any
    _bias: Any
    _cols_to_vars: dict[Any, Any]
    _scopes: list[str]

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Sequence[str] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        books = self.__dict__
        books["_feature_columns"] = checked_columns(feature_columns)
        books["_weight_collections"] = _with_defaults(weight_collections)
        books.update(_units=units, _sparse_combiner=sparse_combiner, _trained=trainable, _own_variables=None, _bias=None)
        books["_cols_to_vars"] = {}
        books["_scopes"] = []
        for column in self._feature_columns:
            if not isinstance(column, (OldDenseColumn, OldCategoricalColumn)):
                raise ValueError(f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}")
            with variable_scope(None, default_name=column._var_scope_name) as scope:
                self._scopes.append(_last_part(scope))

    def cols_to_vars(self) -> dict[Any, Any]:
        """The variables of each column, and those of "bias"."""
        return self._cols_to_vars

    @property
    def bias(self) -> Any:
        """The bias, once the model was called."""
        return self._bias

    def _weights_named(self, name: str, shape: Any) -> Any:
        variable = tf.get_variable(
            name,
            shape=shape,
            dtype=tf.float32,
            initializer=tf.zeros_initializer(),
            trainable=self._trained,
            use_resource=True,
            collections=self._weight_collections,
        )
        return variable

    def call(self, features: Any) -> Any:  # type: ignore[override]
        """The weighted sums of features."""
        for column in self._feature_columns:
            if not isinstance(column, (OldDenseColumn, OldCategoricalColumn)):
                raise ValueError(f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}")
        with variable_scope(self.name, reuse=True if self._own_variables is not None else None):
            cache = FeatureTransformationCache(features)
            sums = []
            made: list[Any] = []
            for column, name in zip(self._feature_columns, self._scopes):
                with variable_scope(name):
                    weights = self._weights_named("weights", (fan_in(column), self._units))
                    sums.append(self._weighted(column, cache, weights))
                    self._cols_to_vars[column] = _scope_variables() if not tf.executing_eagerly() else [weights]
                    made.append(weights)
            check_static_batch_sizes(sums, self._feature_columns)
            total = tf.add_n(sums, name="weighted_sum_no_bias")
            bias = self._weights_named("bias_weights", [self._units])
            self._cols_to_vars["bias"] = list(bias) if type(bias).__name__ == "PartitionedVariable" else [bias]
            made.append(bias)
            self.__dict__["_bias"] = bias
            if self._own_variables is None:
                self.__dict__["_own_variables"] = made
                for variable in made:
                    parts = list(variable) if type(variable).__name__ == "PartitionedVariable" else [variable]
                    (self._trainable_weights if self._trained else self._non_trainable_weights).extend(parts)
            return tf.nn.bias_add(total, bias, name="weighted_sum")

    def _weighted(self, column: Any, cache: Any, weights: Any) -> Any:
        arguments = {"weight_collections": self._weight_collections, "trainable": self._trained}
        if isinstance(column, OldCategoricalColumn):
            return weighted_ids(column._get_sparse_tensors(cache, **arguments), self._sparse_combiner, weights)
        return weighted_numbers(column._get_dense_tensor(cache, **arguments), column._variable_shape.num_elements(), weights)


@public("feature_column.linear_model")
def linear_model(
    features: Any,
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: Any = None,
) -> Any:
    """A linear prediction: the sum of weights for ids, weighted numbers, and a bias."""
    with variable_scope(None, "linear_model") as scope:
        name = _last_part(scope)
    model = ScopedLinearModel(
        feature_columns=feature_columns,
        units=units,
        sparse_combiner=sparse_combiner,
        weight_collections=weight_collections,
        trainable=trainable,
        name=name,
    )
    result = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return result


@public("contrib.feature_column.sequence_input_layer")
def sequence_input_layer(
    features: Any, feature_columns: Any, weight_collections: Sequence[str] | None = None, trainable: bool = True
) -> Any:
    """The tensors of all steps of all columns side by side, and the lengths of the sequences."""
    columns = checked_columns(feature_columns)
    for column in columns:
        if not isinstance(column, OldSequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a sequence_categorical_column with an "
                f"embedding_column or indicator_column. Given (type {type(column)}): {column}"
            )
    with variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        cache = FeatureTransformationCache(features)
        tensors, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name):
                tensor, length = column._get_sequence_dense_tensor(cache, weight_collections=weight_collections, trainable=trainable)
                # Reshape a tensor of any rank to steps of plain vectors.
                elements = getattr(column, "_variable_shape", None)
                elements = (column.variable_shape if elements is None else elements).num_elements()
                tensors.append(tf.reshape(tensor, tf.concat([tf.shape(tensor)[:2], [elements]], 0)))
                lengths.append(length)
        check_static_batch_sizes(tensors, columns)
        with name_scope(None, "assert_all_equal", values=lengths):
            checks = [tf.assert_equal(lengths[0], other) for other in lengths[1:]]
            with tf.control_dependencies(checks):
                same = tf.identity(lengths[0])
        return tf.concat(tensors, -1), same
