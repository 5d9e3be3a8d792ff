"""RNNCell: one step of a recurrent network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import everflow as tf
from everflow import nest  # type: ignore[no-redef]
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor
from everflow.keras.configured import as_kept, as_written
from everflow.keras.input_spec import InputSpec
from everflow.layers import base
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.state import zero_state_tensors

ASSERT_LIKE_RNNCELL_ERROR_REGEXP = internal(
    "ops.rnn_cell_impl.ASSERT_LIKE_RNNCELL_ERROR_REGEXP", "ops.rnn_cell.ASSERT_LIKE_RNNCELL_ERROR_REGEXP"
)("is not an RNNCell")


@internal("ops.rnn_cell_impl.assert_like_rnncell")
def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises TypeError unless something behaves like a cell."""
    problems = []
    for name in ("output_size", "state_size"):
        if not hasattr(cell, name):
            problems.append(f"'{name}' property is missing")
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        problems.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        problems.append("is not callable")
    if problems:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(problems)}.")


@public("nn.rnn_cell.RNNCell", "contrib.rnn.RNNCell")
class RNNCell(base.Layer):
    """A step: `output, new_state = cell(inputs, state)`. Subclasses say `call`, `state_size` and `output_size`."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        if scope is not None:
            with scopes.variable_scope(scope, custom_getter=self._rnn_get_variable) as opened:
                return super().__call__(inputs, state, scope=opened)
        if "_own_variable_scope" not in self.__dict__:
            self._own_variable_scope = scopes.variable_scope(scopes.get_variable_scope(), custom_getter=self._rnn_get_variable)
        with self._own_variable_scope:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """Counts what `call` gets with tf.get_variable among the cell's weights."""
        variable = getter(*args, **kwargs)
        is_trained = variable.trainable if executing_eagerly() else any(variable is v for v in tf.trainable_variables())
        weights = self._trainable_weights if is_trained else self._non_trainable_weights
        if not any(variable is w for w in weights):
            weights.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The size of the state: an int, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the outputs."""
        raise NotImplementedError("Abstract method")

    def build(self, _: Any) -> None:
        """Cells that get their variables in `call` have nothing to build."""

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: dtypes.DTypeLike | None = None) -> Any:
        """The state to start with, for inputs or for a batch size and type."""
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            static = inputs.shape.as_list()[0] if inputs.shape.rank is not None else None
            if batch_size is not None:
                known = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
                if static != known:
                    raise ValueError(
                        f"batch size from input tensor is different from the input param. Input tensor batch: {static}, batch_size: "
                        f"{batch_size}"
                    )
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(
                    f"dtype from input tensor is different from the input param. Input tensor dtype: {inputs.dtype}, dtype: {dtype}"
                )
            batch_size = static if static is not None else tf.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                f"batch_size and dtype cannot be None while constructing initial state: batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        """What cells have in common; those of tf.contrib say no more of themselves."""
        return super().get_config()

    def zero_state(self, batch_size: Any, dtype: dtypes.DTypeLike) -> Any:
        """A state of zeros."""
        with self._zero_state_scope(batch_size):
            return zero_state_tensors(self.state_size, batch_size, dtype)

    def _zero_state_scope(self, batch_size: Any) -> Any:
        return name_scope(f"{type(self).__name__}ZeroState", values=[batch_size])


@internal("ops.rnn_cell_impl.LayerRNNCell")
@public("contrib.rnn.LayerRNNCell")
class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return base.Layer.__call__(self, inputs, state, scope=scope, *args, **kwargs)  # noqa: B026


class DescribedCell(LayerRNNCell):
    """A cell that keeps what its constructor was given, in attributes with an underscore, and writes that into its config."""

    _in_config: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The attributes that the constructor makes."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(_reuse=given["reuse"], name=given["name"], dtype=given["dtype"], **given["kwargs"])
        self.input_spec = InputSpec(ndim=2)
        given = {**given, "activation": given["activation"] or tf.tanh}
        for name in self._in_config:
            setattr(self, f"_{name}", as_kept(name, given[name]))
        if self.__dict__.get("_state_is_tuple") is False:
            tf.logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", self)

    def get_config(self) -> dict[str, Any]:
        written = {name: as_written(name, getattr(self, f"_{name}")) for name in self._in_config}
        return {**super().get_config(), **written, "reuse": self._reuse}


def check_types(values: list[Any]) -> None:
    """Cells compute with floats."""
    for t in nest.flatten(values):
        _check_type(t.dtype)


def _check_type(dtype: dtypes.DTypeLike) -> None:
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    if kind is not None and not kind.is_floating and not kind.is_complex:
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {kind}")


def input_depth(shape: Any) -> int:
    """The size of a cell's inputs, which must be known."""
    sizes = TensorShape(shape)
    depth = sizes.as_list()[-1] if sizes.rank is not None else None
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return depth
