"""Samplers: what helpers are, for decoders that are layers. They get their inputs when the decoder is called."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.contrib.seq2seq import feeding
from everflow.contrib.seq2seq.drawing import bernoulli_sample
from everflow.graph.convert import convert_to_tensor
from everflow.graph.shapes import TensorShape

HOME = "contrib.seq2seq.python.ops.sampler."


@internal(HOME + "Sampler")
class Sampler(metaclass=abc.ABCMeta):
    """Feeds a BasicDecoderV2: first inputs, ids of outputs, next inputs."""

    @abc.abstractmethod
    def initialize(self, inputs: Any, **kwargs: Any) -> Any:
        """(finished, first inputs)."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        """The ids of these outputs."""

    @abc.abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        """(finished, next inputs, next state)."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of the ids of one sequence."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The type of the ids."""


class _Sized(Sampler):
    """A sampler that knows its batch once it has inputs; its ids are one number a sequence."""

    _batch_size: Any = None

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32


def _function(embedding_fn: Any) -> Any:
    if embedding_fn is not None and not callable(embedding_fn):
        raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
    return embedding_fn


@internal(HOME + "CustomSampler")
class CustomSampler(_Sized):
    """A sampler made of three functions."""

    def __init__(
        self, initialize_fn: Any, sample_fn: Any, next_inputs_fn: Any, sample_ids_shape: Any = None, sample_ids_dtype: Any = None
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, inputs: Any, **kwargs: Any) -> Any:
        finished, next_inputs = self._initialize_fn(inputs, **kwargs)
        if self._batch_size is None:
            self._batch_size = tf.size(finished)
        return finished, next_inputs

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


@internal(HOME + "TrainingSampler")
class TrainingSampler(_Sized):
    """Feeds what is given, as for training."""

    def __init__(self, time_major: bool = False) -> None:
        self.time_major = time_major

    def initialize(self, inputs: Any, sequence_length: Any = None) -> Any:  # type: ignore[override]
        if sequence_length is None:
            raise ValueError("sequence_length is required for TrainingSampler")
        self.inputs = convert_to_tensor(inputs, name="inputs")
        self.sequence_length = feeding.vector_of_lengths(sequence_length)
        self._given = feeding.GivenInputs(self.inputs, self.sequence_length, self.time_major)
        self.input_tas, self.zero_inputs = self._given.steps, self._given.zeros
        self._batch_size = self._given.batch_size
        return self._given.first()

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return tf.cast(tf.argmax(outputs, axis=-1), "int32")

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        finished, inputs = self._given.after(time)
        return finished, inputs, state


@internal(HOME + "ScheduledEmbeddingTrainingSampler")
class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """Feeds what is given, or, by chance, the embedding of an id drawn from the last outputs."""

    def __init__(
        self,
        sampling_probability: Any,
        embedding_fn: Any = None,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: Any = None,
    ) -> None:
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be callable, got {type(embedding_fn)}")
        self.embedding_fn = embedding_fn
        self.sampling_probability = feeding.probability(sampling_probability)
        self.seed = seed
        self.scheduling_seed = scheduling_seed
        super().__init__(time_major=time_major)

    def initialize(self, inputs: Any, sequence_length: Any = None, embedding: Any = None) -> Any:  # type: ignore[override]
        if self.embedding_fn is None:
            if embedding is None:
                raise ValueError("embedding is required as a keyword argument for ScheduledEmbeddingTrainingSampler")
            self.embedding_fn = feeding.embedding_function(embedding)
        return super().initialize(inputs, sequence_length=sequence_length)

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return feeding.drawn_ids(self.sampling_probability, outputs, self.batch_size, self.seed, self.scheduling_seed)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        return finished, feeding.embedded_or_given(sample_ids, finished, given, self.embedding_fn), state


@internal(HOME + "ScheduledOutputTrainingSampler")
class ScheduledOutputTrainingSampler(TrainingSampler):
    """Feeds what is given, or, by chance, the last outputs themselves (or what `next_inputs_fn` makes of them)."""

    def __init__(self, sampling_probability: Any, time_major: bool = False, seed: int | None = None, next_inputs_fn: Any = None) -> None:
        self.sampling_probability = feeding.probability(sampling_probability)
        self.seed = seed
        self.next_inputs_fn = next_inputs_fn
        super().__init__(time_major=time_major)

    def initialize(self, inputs: Any, sequence_length: Any = None, auxiliary_inputs: Any = None) -> Any:  # type: ignore[override]
        inputs, self._auxiliary_input_tas = feeding.with_auxiliary(inputs, auxiliary_inputs, self.time_major)
        return super().initialize(inputs, sequence_length=sequence_length)

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return bernoulli_sample(probs=self.sampling_probability, sample_shape=self.batch_size, seed=self.seed)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        inputs = feeding.outputs_or_given(time, sample_ids, finished, given, outputs, self.next_inputs_fn, self._auxiliary_input_tas)
        return finished, inputs, state


@internal(HOME + "GreedyEmbeddingSampler")
class GreedyEmbeddingSampler(_Sized):
    """Feeds the embedding of the id with the greatest output, from start tokens to an end token."""

    def __init__(self, embedding_fn: Any = None) -> None:
        self.embedding_fn = _function(embedding_fn)

    def initialize(self, embedding: Any, start_tokens: Any = None, end_token: Any = None) -> Any:  # type: ignore[override]
        if self.embedding_fn is None:
            self.embedding_fn = feeding.embedding_function(embedding)
        self.start_tokens, self.end_token = feeding.start_and_end(start_tokens, end_token)
        self._batch_size = tf.size(self.start_tokens)
        self.start_inputs = self.embedding_fn(self.start_tokens)
        return tf.tile([False], [self._batch_size]), self.start_inputs

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return feeding.best_ids(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        return *feeding.embedded_until_end(sample_ids, self.end_token, self.start_inputs, self.embedding_fn), state


@internal(HOME + "SampleEmbeddingSampler")
class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """Feeds the embedding of an id drawn from the outputs, which are logits."""

    def __init__(self, embedding_fn: Any = None, softmax_temperature: Any = None, seed: int | None = None) -> None:
        super().__init__(embedding_fn)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return feeding.sampled_ids(outputs, self.softmax_temperature, self.seed)


@internal(HOME + "InferenceSampler")
class InferenceSampler(_Sized):
    """Feeds what functions make of the samples."""

    def __init__(self, sample_fn: Any, sample_shape: Any, sample_dtype: Any, end_fn: Any, next_inputs_fn: Any = None) -> None:
        self.sample_fn = sample_fn
        self.sample_shape = TensorShape(sample_shape)
        self.sample_dtype = sample_dtype
        self.end_fn = end_fn
        self.next_inputs_fn = next_inputs_fn

    @property
    def sample_ids_shape(self) -> Any:
        return self.sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self.sample_dtype

    def initialize(self, start_inputs: Any) -> Any:  # type: ignore[override]
        self.start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = tf.shape(start_inputs)[0]
        return tf.tile([False], [self._batch_size]), self.start_inputs

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return self.sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        inputs = sample_ids if self.next_inputs_fn is None else self.next_inputs_fn(sample_ids)
        return self.end_fn(sample_ids), inputs, state
