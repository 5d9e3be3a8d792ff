"""The decoder that runs a cell on what a helper or sampler feeds."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from everflow import nest
from everflow.api import internal, public
from everflow.contrib.seq2seq.decoder import BaseDecoder, Decoder
from everflow.contrib.seq2seq.helpers import Helper
from everflow.contrib.seq2seq.samplers import Sampler
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.keras.layer import Layer
from everflow.rnn.cell import assert_like_rnncell

_Output = namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))  # type: ignore[name-match]


@public("contrib.seq2seq.BasicDecoderOutput")
class BasicDecoderOutput(_Output):
    """What a step gives: the outputs of the cell (or of the layer behind it) and the ids of them."""


def check_output_layer(output_layer: Any) -> None:
    """Raises TypeError for what is no layer."""
    if output_layer is not None and not isinstance(output_layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")


def size_after(output_layer: Any, size: Any) -> Any:
    """The size of a cell's outputs behind a layer, if there is one."""
    if output_layer is None:
        return size
    shapes = nest.map_structure(lambda s: TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: TensorShape(s)[1:], output_layer.compute_output_shape(shapes))


def _dtypes(size: Any, dtype: Any, id_dtype: Any) -> BasicDecoderOutput:
    return BasicDecoderOutput(nest.map_structure(lambda _: dtype, size), id_dtype)


def _step(cell: Any, output_layer: Any, feeder: Any, time: Any, inputs: Any, state: Any) -> Any:
    """A step of a cell and its layer, after which a helper or a sampler says what comes next."""
    outputs, state = cell(inputs, state)
    if output_layer is not None:
        outputs = output_layer(outputs)
    now = {"time": time, "outputs": outputs, "state": state}
    ids = feeder.sample(**now)
    finished, following, state = feeder.next_inputs(sample_ids=ids, **now)
    return BasicDecoderOutput(outputs, ids), state, following, finished


@public("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """Runs a cell, then an output layer, on what a helper feeds."""

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return size_after(self._output_layer, self._cell.output_size)

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(rnn_output=self._rnn_output_size(), sample_id=self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        return _dtypes(self._rnn_output_size(), nest.flatten(self._initial_state)[0].dtype, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            return _step(self._cell, self._output_layer, self._helper, time, inputs, state)


@internal("contrib.seq2seq.python.ops.basic_decoder.BasicDecoderV2")
class BasicDecoderV2(BaseDecoder):
    """The same as a layer, fed by a sampler."""

    def __init__(self, cell: Any, sampler: Any, output_layer: Any = None, **kwargs: Any) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        check_output_layer(output_layer)
        self.cell = cell
        self.sampler = sampler
        self.output_layer = output_layer
        super().__init__(**kwargs)

    def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        # The state is given at each call, and its type is that of the outputs.
        self._cell_dtype = nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self) -> Any:
        return self.sampler.batch_size

    def _rnn_output_size(self) -> Any:
        return size_after(self.output_layer, self.cell.output_size)

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(rnn_output=self._rnn_output_size(), sample_id=self.sampler.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        return _dtypes(self._rnn_output_size(), self._cell_dtype, self.sampler.sample_ids_dtype)

    def step(self, time: Any, inputs: Any, state: Any) -> Any:
        return _step(self.cell, self.output_layer, self.sampler, time, inputs, state)
