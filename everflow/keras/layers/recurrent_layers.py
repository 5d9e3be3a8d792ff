"""The layers of each cell: SimpleRNN, GRU and LSTM, and their forms of TensorFlow 2 and of CuDNN."""

from __future__ import annotations

import inspect
import operator
from typing import Any

from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras import activations, regularizers
from everflow.keras.input_spec import InputSpec
from everflow.keras.layers.recurrent import RNN
from everflow.keras.layers.recurrent_cells import GRUCell, GRUCellV2, LSTMCell, LSTMCellV2, SimpleRNNCell


class OneCell:
    """Layers whose cell is made of their own arguments; these show as attributes of the layer and in its config."""

    _cell_class: Any
    _of_cell: tuple[str, ...]
    _in_layer_config: tuple[str, ...]

    def __init__(self: Any, given: dict[str, Any], **fixed: Any) -> None:
        others = arguments(given)
        of_cell = {name: others.pop(name) for name in self._of_cell}
        of_cell.update({name: others[name] for name in ("dtype", "trainable") if name in others})
        penalty = regularizers.get(others.pop("activity_regularizer"))
        super().__init__(self._cell_class(**of_cell, **fixed), **others)  # type: ignore[call-arg]
        self.activity_regularizer = penalty

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_cell_class" not in cls.__dict__:
            return
        known = inspect.signature(cls._cell_class).parameters
        own = [name for name in inspect.signature(cls).parameters if name != "kwargs"]
        cls._of_cell = tuple(name for name in own if name in known)
        cls._in_layer_config = tuple(name for name in own if name in known or name == "activity_regularizer")
        for name in cls._of_cell:
            setattr(cls, name, property(operator.attrgetter(f"cell.{name}")))

    def get_config(self: Any) -> dict[str, Any]:
        config = super().get_config()  # type: ignore[misc]
        del config["cell"]
        written = {**self.cell.get_config(), "activity_regularizer": regularizers.serialize(self.activity_regularizer)}
        return {**config, **{name: written[name] for name in self._in_layer_config}}

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """The layer with these arguments."""
        config = dict(config)
        if config.get("implementation") == 0:
            config["implementation"] = 1
        number = config.pop("num_constants", 0)
        made: Any = cls(**config)
        made.__dict__["_num_constants"] = number
        return made


class OverVectors(OneCell, RNN):  # type: ignore[misc]
    """Such layers of sequences of vectors."""

    def __init__(self, given: dict[str, Any], **fixed: Any) -> None:
        super().__init__(given, **fixed)
        self.input_spec = [InputSpec(ndim=3)]

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:  # type: ignore[override]
        """The outputs of the last step or of all."""
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)


@public("keras.layers.SimpleRNN")
class SimpleRNN(OverVectors):
    """A dense layer over time that sees its own output."""

    _cell_class = SimpleRNNCell

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
        super().__init__(locals())


@public("keras.layers.GRU")
@internal("keras.layers.recurrent.GRU")
class GRU(OverVectors):
    """Gated recurrent units."""

    _cell_class = GRUCell

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
        super().__init__(locals())


@public("keras.layers.LSTM")
@internal("keras.layers.recurrent.LSTM")
class LSTM(OverVectors):
    """Long short-term memory."""

    _cell_class = LSTMCell

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
        super().__init__(locals())


def has_plain_units(layer: Any) -> bool:
    """Whether a layer's units are those of cuDNN."""
    functions = [activations.serialize(f) for f in (layer.activation, layer.recurrent_activation)]
    return functions == ["tanh", "sigmoid"] and not layer.recurrent_dropout and not layer.unroll and layer.use_bias


@internal("keras.layers.recurrent_v2.GRU")
class GRUV2(OverVectors):
    """Gated recurrent units with TensorFlow 2's defaults."""

    _cell_class = GRUCellV2

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
        super().__init__(locals())

    @property
    def could_use_cudnn(self) -> bool:
        """Whether a GPU's library could compute the layer: it knows one kind of unit only."""
        return has_plain_units(self) and self.reset_after


@internal("keras.layers.recurrent_v2.LSTM")
class LSTMV2(OverVectors):
    """Long short-term memory with TensorFlow 2's defaults."""

    _cell_class = LSTMCellV2

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
        super().__init__(locals())

    @property
    def could_use_cudnn(self) -> bool:
        """Whether a GPU's library could compute the layer: it knows one kind of unit only."""
        return has_plain_units(self)


# Written into configs under the names that programs know.
GRUV2.__name__ = GRUV2.__qualname__ = "GRU"
LSTMV2.__name__ = LSTMV2.__qualname__ = "LSTM"
