"""The layers of each cell: SimpleRNN, GRU and LSTM, and their forms of TensorFlow 2 and of CuDNN."""

from __future__ import annotations

import operator
from typing import Any

from everflow.api import internal, public
from everflow.keras import regularizers
from everflow.keras.input_spec import InputSpec
from everflow.keras.layers.recurrent import RNN
from everflow.keras.layers.recurrent_cells import GRUCell, GRUCellV2, LSTMCell, LSTMCellV2, SimpleRNNCell

# What the layers pass on to their cells, and show as their own.
_SHARED = (
    "units",
    "activation",
    "use_bias",
    "kernel_initializer",
    "recurrent_initializer",
    "bias_initializer",
    "kernel_regularizer",
    "recurrent_regularizer",
    "bias_regularizer",
    "kernel_constraint",
    "recurrent_constraint",
    "bias_constraint",
    "dropout",
    "recurrent_dropout",
)


class _OneCell(RNN):
    """A layer whose cell is made of the layer's own arguments."""

    _names: tuple[str, ...] = _SHARED

    def __init__(
        self,
        cell: Any,
        return_sequences: bool,
        return_state: bool,
        go_backwards: bool,
        stateful: bool,
        unroll: bool,
        activity_regularizer: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            cell,
            return_sequences=return_sequences,
            return_state=return_state,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            **kwargs,
        )
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=3)]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in cls._names:
            setattr(cls, name, property(operator.attrgetter(f"cell.{name}")))

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["cell"]
        mine = self.cell.get_config()
        config.update({name: mine[name] for name in self._names})
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The layer with these arguments."""
        config = dict(config)
        if config.get("implementation") == 0:
            config["implementation"] = 1
        number = config.pop("num_constants", 0)
        made = cls(**config)
        made.__dict__["_num_constants"] = number
        return made


def _own(kwargs: dict[str, Any]) -> dict[str, Any]:
    """What the cell takes of a layer's further arguments."""
    return {name: kwargs[name] for name in ("dtype", "trainable") if name in kwargs}


@public("keras.layers.SimpleRNN")
class SimpleRNN(_OneCell):
    """A dense layer over time that sees its own output."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        # Without gates there is one way to compute it.
        kwargs.pop("implementation", None)
        own = _own(kwargs)
        cell = SimpleRNNCell(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **own,
        )
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer, **kwargs)

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)


@public("keras.layers.GRU")
@internal("keras.layers.recurrent.GRU")
class GRU(_OneCell):
    """Gated recurrent units."""

    _names = (*_SHARED, "recurrent_activation", "implementation", "reset_after")

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        own = _own(kwargs)
        cell = GRUCell(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            reset_after=reset_after,
            **own,
        )
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer, **kwargs)

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)


@public("keras.layers.LSTM")
@internal("keras.layers.recurrent.LSTM")
class LSTM(_OneCell):
    """Long short-term memory."""

    _names = (*_SHARED, "recurrent_activation", "unit_forget_bias", "implementation")

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        own = _own(kwargs)
        cell = LSTMCell(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            **own,
        )
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer, **kwargs)

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)


@internal("keras.layers.recurrent_v2.GRU")
class GRUV2(_OneCell):
    """Gated recurrent units with TensorFlow 2's defaults."""

    _names = (*_SHARED, "recurrent_activation", "implementation", "reset_after")

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 2,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        reset_after: bool = True,
        **kwargs: Any,
    ) -> None:
        own = _own(kwargs)
        cell = GRUCellV2(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            reset_after=reset_after,
            **own,
        )
        super().__init__(
            cell, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer, time_major=time_major, **kwargs
        )

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)


@internal("keras.layers.recurrent_v2.LSTM")
class LSTMV2(_OneCell):
    """Long short-term memory with TensorFlow 2's defaults."""

    _names = (*_SHARED, "recurrent_activation", "unit_forget_bias", "implementation")

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 2,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        own = _own(kwargs)
        cell = LSTMCellV2(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            **own,
        )
        super().__init__(
            cell, return_sequences, return_state, go_backwards, stateful, unroll, activity_regularizer, time_major=time_major, **kwargs
        )

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)


# Written into configs under the names that programs know.
GRUV2.__name__ = GRUV2.__qualname__ = "GRU"
LSTMV2.__name__ = LSTMV2.__qualname__ = "LSTM"
