"""compile, fit, evaluate, predict and their kin."""
from __future__ import annotations

from typing import Any

import numpy as np

from everflow import nest
from everflow.eager.context import executing_eagerly
from everflow.graph.dtypes import as_dtype
from everflow.graph.scopes import init_scope, name_scope
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.keras.backend.learning_phase import symbolic_learning_phase
from everflow.keras.backend.session import get_session
from everflow.keras.callbacks.base import PREDICT, TEST, TRAIN
from everflow.keras.config import floatx
from everflow.keras.enqueuers import Sequence, is_generator_or_sequence
from everflow.keras.optimizers.names import get as get_optimizer
from everflow.keras.training import arrays, compiling, loops
from everflow.keras.training.batches import (
    ArrayBatches,
    StreamBatches,
    dataset_batches,
    generator_batches,
    iterator_batches,
    tensor_batches,
)
from everflow.keras.training.datasets import is_dataset, is_iterator, number_of_batches
from everflow.keras.training.eager_steps import EagerSteps
from everflow.keras.training.inputs import ModelInputs
from everflow.keras.training.steps import SymbolicSteps, predict_function
from everflow.platform import logging as tf_logging


class Training:
    """The part of Model that trains."""

    inputs: Any
    outputs: Any
    input_names: Any
    output_names: Any
    optimizer: Any
    loss: Any
    loss_weights: Any
    sample_weight_mode: Any
    _compile_metrics: Any
    _compile_weighted_metrics: Any
    _target_tensors: Any
    history: Any
    stop_training: bool
    trainable_weights: Any
    dynamic: bool
    _is_graph_network: bool
    _nested_inputs: Any
    _call_takes: Any
    name: str
    __dict__: dict[str, Any]

    # What is known before `compile`
    _is_compiled = False
    _endpoints: Any = ()
    _steps: Any = None
    _functions: Any = None
    _function_kwargs: Any = {}
    _run_eagerly: Any = None
    _input_structure: Any = None
    _collected_trainable_weights: Any = ()
    _metric_names: Any = ()

    # -- compile

    def compile(self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, loss_weights: Any = None,
                sample_weight_mode: Any = None, weighted_metrics: Any = None, target_tensors: Any = None, distribute: Any = None,
                **kwargs: Any) -> None:
        """Says how the model is trained: with which optimizer, and by which losses and metrics."""
        books = self.__dict__
        books["_run_eagerly"] = kwargs.pop("run_eagerly", None)
        kwargs.pop("experimental_run_tf_function", None)
        if distribute is not None:
            raise ValueError("Distribute argument in compile is not available in TF 2.0 please create the model under the distribution "
                             "strategy scope.")
        unknown = set(kwargs) - {"feed_dict", "fetches", "options", "run_metadata"}
        if unknown:
            raise TypeError(f"Invalid keyword argument(s) in `compile`: {unknown}")
        if kwargs and executing_eagerly():
            raise ValueError("Session keyword arguments are not supported when `run_eagerly=True`. You passed the following Session "
                             f"arguments: {kwargs}")
        books["_function_kwargs"] = kwargs
        made: Any = [get_optimizer(o) for o in optimizer] if isinstance(optimizer, (list, tuple)) else get_optimizer(optimizer)
        if hasattr(made, "_track_trackable"):
            self._track_trackable(made, name="optimizer", overwrite=True)  # type: ignore[attr-defined]
        books["optimizer"] = made
        # Plain values: lists and dicts of arguments are not parts of the model.
        books.update(loss=loss or {}, loss_weights=loss_weights, sample_weight_mode=sample_weight_mode, _compile_metrics=metrics or [],
                     _compile_weighted_metrics=weighted_metrics, _target_tensors=target_tensors, _is_compiled=True, _endpoints=[],
                     _steps=None, _functions={}, stop_training=False)
        if self.run_eagerly and target_tensors is not None:
            raise ValueError("target_tensors argument is not supported when running a model eagerly.")
        if self.outputs and self.built:  # type: ignore[attr-defined]
            self._settle_compile(self.outputs)

    def _settle_compile(self, outputs: Any) -> None:
        """The rest of `compile`, when the outputs are known."""
        books = self.__dict__
        if not self.output_names:
            books["output_names"] = arrays.generic_output_names(outputs)
        losses = compiling.prepare_loss_functions(self.loss, self.output_names)
        endpoints = [compiling.Endpoint(o, n, f) for o, n, f in zip(outputs, self.output_names, losses)]
        compiling.prepare_loss_weights(endpoints, self.loss_weights)
        compiling.set_sample_weight_modes(endpoints, self.sample_weight_mode)
        books["_endpoints"] = endpoints
        books["_metric_names"] = compiling.set_metrics(endpoints, self._compile_metrics, self._compile_weighted_metrics)
        books["loss_functions"] = [e.loss_fn for e in endpoints]
        books["_collected_trainable_weights"] = self.trainable_weights
        books["_functions"] = {}
        if self.run_eagerly:
            books["_steps"] = EagerSteps(self, endpoints)
            return
        symbolic = SymbolicSteps(self, endpoints, self._given_targets())
        books["_steps"] = symbolic
        books["total_loss"] = symbolic.total_loss

    def _optimizer_updates(self, variables: Any, loss: Any) -> list[Any]:
        """What a step of training changes."""
        return self.optimizer.get_updates(params=variables, loss=loss)

    def _apply_gradients(self, pairs: list[Any]) -> None:
        """Changes variables at once."""
        apply_gradients(self.optimizer, pairs)

    def _given_targets(self) -> Any:
        given = self._target_tensors
        if given is None or isinstance(given, (list, tuple)) and not len(given):
            return None
        if isinstance(given, dict):
            unknown = sorted(set(given) - set(self.output_names))
            if unknown:
                raise ValueError(f"Unknown entry in `target_tensors` dictionary: \"{unknown[0]}\". Only expected the following keys: "
                                 f"{self.output_names}")
            return [given.get(n) for n in self.output_names]
        if isinstance(given, (list, tuple)):
            if len(given) != len(self.output_names):
                raise ValueError("When passing a list as `target_tensors`, it should have one entry per model output. The model has "
                                 f"{len(self.output_names)} outputs, but you passed target_tensors={given}")
            return list(given)
        if isinstance(given, Tensor):
            return [given]
        raise TypeError(f"Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got: {given}")

    @property
    def run_eagerly(self) -> bool:
        """Whether layers run as Python, op by op."""
        if self._run_eagerly is True and not executing_eagerly():
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        if self.dynamic:
            only = ("Your model contains layers that can only be successfully run in eager execution (layers constructed with "
                    "`dynamic=True`). ")
            if not executing_eagerly():
                raise ValueError(only + "You must enable eager execution with `tf.enable_eager_execution()`.")
            if self._run_eagerly is False:
                raise ValueError(only + "You cannot set `run_eagerly=False`.")
            return True
        return bool(self._run_eagerly) and executing_eagerly()

    @run_eagerly.setter
    def run_eagerly(self, value: bool) -> None:
        self.__dict__["_run_eagerly"] = value

    def _assert_compile_was_called(self) -> None:
        if not self._is_compiled:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")

    # -- metrics

    def _compiled_metric_objects(self) -> list[Any]:
        found: list[Any] = []
        for e in self._endpoints:
            found += [*([e.loss_metric] if e.loss_metric is not None else []), *e.metrics.values(), *e.weighted_metrics.values()]
        return found

    def _added_metrics(self, compiled: Any) -> list[Any]:
        """The metrics that layers and the model itself added."""
        known = {id(m) for m in compiled}
        found: dict[int, Any] = {}
        for metric in self._own_and_layers_metrics():
            if id(metric) not in known and hasattr(metric, "_call_result"):
                found[id(metric)] = metric
        return list(found.values())

    def _own_and_layers_metrics(self) -> list[Any]:
        found = list(self._metrics)  # type: ignore[attr-defined]
        for layer in self._layers:  # type: ignore[attr-defined]
            found += layer.metrics if hasattr(layer, "metrics") else []
        return found

    @property
    def metrics(self) -> list[Any]:
        """The metrics of `compile`, and those that layers added."""
        found: dict[int, Any] = {}
        for e in self._endpoints:
            found.update((id(m), m) for m in (*e.metrics.values(), *e.weighted_metrics.values()))
        found.update((id(m), m) for m in self._own_and_layers_metrics())
        return list(found.values())

    @property
    def metrics_names(self) -> list[str]:
        """What losses and metrics are called, in the order in which they are returned."""
        if not self._is_compiled:
            return []
        compiled = self._compiled_metric_objects()
        return ["loss", *self._metric_names, *(m.name for m in self._added_metrics(compiled))]

    def reset_metrics(self) -> None:
        """Has all metrics start again."""
        for metric in {id(m): m for m in [*self._compiled_metric_objects(), *self.metrics]}.values():
            metric.reset_states()

    # -- what others see of the step

    @property
    def _targets(self) -> list[Any]:
        return [e.target for e in self._endpoints if not e.skips_target]

    @property
    def _feed_targets(self) -> list[Any]:
        return [e.target for e in self._endpoints if e.feeds_target]

    @property
    def _feed_output_names(self) -> list[str]:
        return [e.output_name for e in self._endpoints if not e.skips_target and (e.feeds_target or self.run_eagerly)]

    @property
    def _feed_loss_fns(self) -> list[Any]:
        return [e.loss_fn for e in self._endpoints if not e.skips_target and (e.feeds_target or self.run_eagerly)]

    @property
    def _feed_output_shapes(self) -> list[Any]:
        return [e.feed_shape for e in self._endpoints if not e.skips_target and (e.feeds_target or self.run_eagerly)]

    @property
    def _loss_weights_list(self) -> list[Any]:
        return [e.loss_weight for e in self._endpoints]

    @property
    def _training_endpoints(self) -> list[Any]:
        return list(self._endpoints)

    @property
    def sample_weights(self) -> list[Any]:
        """The places of sample weights, where outputs have them."""
        return [e.sample_weight for e in self._endpoints]

    @property
    def _feed_sample_weights(self) -> list[Any]:
        return [e.sample_weight for e in self._endpoints if e.sample_weight is not None]

    @property
    def _feed_inputs(self) -> list[Any]:
        if self._is_graph_network:
            return [t for t, layer in zip(self.inputs, self._input_layers) if layer.is_placeholder]  # type: ignore[attr-defined]
        return self.__dict__.get("_placeholders", [])

    def _feed_names(self) -> list[str]:
        if self._is_graph_network:
            return [layer.name for layer in self._input_layers if layer.is_placeholder]  # type: ignore[attr-defined]
        return self.__dict__.get("_placeholder_names") or list(self.input_names or [])

    def _input_dtypes(self, number: int) -> list[Any]:
        known = [t.dtype for t in self._feed_inputs]
        if known:
            return known
        return [as_dtype(self.dtype or floatx())] * number  # type: ignore[attr-defined]

    def _arranged(self, tensors: list[Any]) -> Any:
        """The tensors of a batch in the structure of the inputs."""
        structure = self._nested_inputs if self._is_graph_network else self._input_structure
        if structure is None or not isinstance(structure, (list, tuple, dict)):
            return tensors[0] if len(tensors) == 1 else tensors
        return nest.pack_sequence_as(structure, tensors)

    # -- the functions of a step

    def _make_train_function(self) -> Any:
        self._check_trainable_weights_consistency()
        return self._function(TRAIN)

    def _make_optimizer_variables(self) -> None:
        """Makes the variables that the optimizer keeps, before the first step."""
        if self._steps is None and self.outputs:
            self._settle_compile(self.outputs)
        if not self.run_eagerly:
            self._make_train_function()
            return
        with init_scope(), name_scope(self.optimizer._name):
            self.optimizer.iterations  # noqa: B018 (makes the variable)
            self.optimizer._create_hypers()
            self.optimizer._create_slots(self.trainable_weights)

    def _make_test_function(self) -> Any:
        return self._function(TEST)

    def _make_predict_function(self) -> Any:
        return self._function(PREDICT)

    def _function(self, mode: str) -> Any:
        functions = self.__dict__.setdefault("_functions", {}) or {}
        self.__dict__["_functions"] = functions
        if mode not in functions:
            if mode == PREDICT:
                functions[mode] = predict_function(self)
            else:
                functions[mode] = self._steps.train_function() if mode == TRAIN else self._steps.test_function()
        return functions[mode]

    train_function = property(lambda self: (self._functions or {}).get(TRAIN))
    test_function = property(lambda self: (self._functions or {}).get(TEST))
    predict_function = property(lambda self: (self._functions or {}).get(PREDICT))

    def _check_trainable_weights_consistency(self) -> None:
        if [id(w) for w in self.trainable_weights] != [id(w) for w in self._collected_trainable_weights]:
            tf_logging.log_first_n(
                tf_logging.WARN, "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` "
                "without calling `model.compile` after ?", 1)

    def _step(self, mode: str) -> Any:
        """A function that runs one step, given the arrays of inputs, targets and weights."""
        if self.run_eagerly:
            eager = self._steps or EagerSteps(self, [])
            if mode == PREDICT:
                return lambda ins: eager.predict(ins)
            return lambda ins: (eager.train if mode == TRAIN else eager.test)(*self._divided(ins))
        if mode == TRAIN:
            self._check_trainable_weights_consistency()
        # Looked up for each batch: the first one that comes with weights has the functions made anew.
        self._function(mode)
        phase = [] if isinstance(symbolic_learning_phase(), int) else [mode == TRAIN]
        return lambda ins: self._function(mode)([*ins, *phase])

    def _divided(self, ins: list[Any]) -> tuple[Any, Any, Any]:
        """Inputs, targets and weights of a list of all."""
        targets = len(self._feed_output_names)
        number = len(ins) - targets - len(self._endpoints) if self.run_eagerly else 0
        return ins[:number], ins[number:number + targets], ins[number + targets:]

    # -- data

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Makes symbolic inputs (and outputs) for a model that did not know its inputs."""
        books = self.__dict__
        found = ModelInputs(inputs)
        names = found.get_input_names()
        books.update(_input_structure=inputs, _placeholder_names=names)
        if isinstance(inputs, (list, tuple)) and len(inputs) == 1 and not hasattr(inputs, "dense_shape"):
            books["_input_structure"] = None
        symbolic = found.get_symbolic_inputs()
        if isinstance(symbolic, list) and len(symbolic) == 1:
            symbolic = symbolic[0]
        self._set_save_spec(symbolic)
        if self.run_eagerly:
            books["input_names"] = names
            return
        flat = nest.flatten(symbolic)
        arguments = {}
        if self._call_takes("training"):
            arguments["training"] = symbolic_learning_phase() if training is None else training
        if outputs is None:
            with flat[0].graph.as_default():
                outputs = self(symbolic, **arguments)  # type: ignore[operator]
        books.update(inputs=flat, outputs=nest.flatten(outputs), input_names=names, _placeholders=flat, _output_structure=outputs)
        books["output_names"] = arrays.generic_output_names(self.outputs)
        self.built = True

    def _set_save_spec(self, inputs: Any) -> None:
        """Remembers what a model is called with, for those who save it."""
        self.__dict__.setdefault("_saved_model_inputs_spec", nest.map_structure(
            lambda t: TensorSpec(t.shape, t.dtype.base_dtype), inputs, expand_composites=False))

    def _prepared_for(self, x: Any, needs_compile: bool = True) -> None:
        """Knows inputs and outputs, and has finished `compile`."""
        if not self.inputs and not (self.run_eagerly and self.input_names):
            self._set_inputs(x)
        if not needs_compile or self._steps is not None:
            return
        if self.run_eagerly and not self.outputs:
            names = self._feed_names()
            given = arrays.standardize_input_data(x, names, None, check_batch_axis=False, exception_prefix="input")
            sample = EagerSteps(self, []).inputs_of([part[:1] if hasattr(part, "shape") else part for part in given])
            arguments = {"training": False} if self._call_takes("training") else {}
            self._settle_compile(nest.flatten(self(sample, **arguments)))  # type: ignore[operator]
        else:
            self._settle_compile(self.outputs)

    def _standardize_user_data(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
                               with_targets: bool = True, compares: bool = True) -> tuple[list[Any], list[Any], list[Any]]:
        """(arrays of inputs, of targets, of weights), checked."""
        if with_targets:
            self._assert_compile_was_called()
        self._prepared_for(x, with_targets)
        shapes = None
        if self._is_graph_network:
            shapes = [tuple(t.shape.as_list()) if t.shape.rank is not None else None for t in self._feed_inputs]
        x = arrays.standardize_input_data(x, self._feed_names(), shapes, check_batch_axis=False, exception_prefix="input")
        if not with_targets:
            return x, [], []
        names = self._feed_output_names
        # Losses may broadcast: shapes are compared below, by the loss of each.
        y = arrays.standardize_input_data(y, names, None, check_batch_axis=False, exception_prefix="target")
        if any(t is None for t in y) and names and not self.run_eagerly:
            missing = names[[t is None for t in y].index(True)]
            raise ValueError(f'No data provided for "{missing}". Need data for each key in: {names}')
        weights = self._weights(y, sample_weight, class_weight)
        arrays.check_array_lengths(x, y, weights)
        if compares and not self.run_eagerly:
            arrays.check_loss_and_target_compatibility(y, self._feed_loss_fns, self._feed_output_shapes)
        if self.stateful and x and x[0] is not None and self._is_graph_network:  # type: ignore[attr-defined]
            self._check_stateful_batch(x[0])
        return x, y, weights

    def _check_stateful_batch(self, x: Any) -> None:
        size = self.inputs[0].shape.as_list()[0]
        if size and hasattr(x, "shape") and x.shape[0] is not None and int(x.shape[0]) % size:
            raise ValueError(f"In a stateful network, you should only pass inputs with a number of samples that can be divided by the "
                             f"batch size. Found: {x.shape[0]} samples")

    def _weights(self, y: list[Any], sample_weight: Any, class_weight: Any) -> list[Any]:
        compared = [e for e in self._endpoints if not e.skips_target]
        names = [e.output_name for e in compared]
        by_sample = arrays.standardize_sample_weights(sample_weight, names)
        by_class = arrays.standardize_class_weights(class_weight, names)
        targets = y if len(y) == len(compared) else [None] * len(compared)
        found = [
            arrays.standardize_weights(t, w, c, e.sample_weight_mode) if t is not None and (w is not None or c is not None) else None
            for t, w, c, e in zip(targets, by_sample, by_class, compared)
        ]
        if self.run_eagerly:
            everything = iter(found)
            return [None if e.skips_target else next(everything) for e in self._endpoints]
        everything = iter(found)
        wanted = [False if e.skips_target else next(everything) is not None for e in self._endpoints]
        if self._steps.use_sample_weights(wanted):
            self.__dict__["_functions"] = {k: f for k, f in self._functions.items() if k == PREDICT}
            self.__dict__["total_loss"] = self._steps.total_loss
        kept = []
        for weight, e, target in zip(found, compared, targets):
            if e.sample_weight is not None:
                kept.append(_ones_for(target, e) if weight is None else weight)
        return kept

    def _source(self, x: Any, y: Any, sample_weight: Any, class_weight: Any, batch_size: Any, steps: Any, steps_name: str, shuffle: Any,
                with_targets: bool = True, max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False) -> Any:
        """The batches of some data."""

        def prepare(batch: Any) -> list[Any]:
            x, y, w = _unpacked(batch, with_targets)
            found = self._standardize_user_data(x, y, w, class_weight, with_targets, compares=is_array_like)
            return [*found[0], *found[1], *found[2]]

        is_array_like = not (is_dataset(x) or is_iterator(x))
        if is_dataset(x) or is_iterator(x):
            _refuse("dataset or a dataset iterator", x, y, sample_weight, with_targets)
            if batch_size is not None:
                raise ValueError(f"The `batch_size` argument must not be specified for the given input type. Received input: {x}, "
                                 f"batch_size: {batch_size}")
            if is_iterator(x):
                return StreamBatches(iterator_batches(x), steps, prepare)
            steps, restarts = number_of_batches(x, steps, steps_name)
            return StreamBatches(dataset_batches(x), steps, prepare, restarts=restarts)
        if is_generator_or_sequence(x):
            kind = "`keras.utils.Sequence`" if isinstance(x, Sequence) else "generator"
            _refuse(kind, x, y, sample_weight, with_targets)
            if steps is None:
                if isinstance(x, Sequence):
                    steps = len(x)
            return StreamBatches(generator_batches(x, workers, use_multiprocessing, max_queue_size, bool(shuffle)), steps, prepare,
                                 from_generator=True)
        if _has_symbolic(x) or _has_symbolic(y):
            if steps is None:
                raise ValueError(f"When using data tensors as input to a model, you should specify the `{steps_name}` argument.")
            return StreamBatches(tensor_batches((x, y, sample_weight)), steps, prepare)
        found = self._standardize_user_data(x, y, sample_weight, class_weight, with_targets)
        everything = [*found[0], *found[1], *found[2]]
        if not any(part is not None for part in everything):
            if steps is None:
                raise ValueError(f"When using data tensors as input to a model, you should specify the `{steps_name}` argument.")
            return StreamBatches(lambda: iter(lambda: everything, None), steps, lambda batch: batch)
        if steps is not None:
            if batch_size is not None:
                raise ValueError(f"If {steps_name} is set, the `batch_size` must be None.")
            # All samples are one batch where only the number of steps is given.
            size = _first_length(everything)
            if steps > 0 and size >= steps and not any(isinstance(p, Tensor) for p in everything):
                return StreamBatches(lambda: _repeated(everything, -(-size // steps)), steps, lambda batch: batch)
            return StreamBatches(lambda: iter(lambda: everything, None), steps, lambda batch: batch)
        fixed = self.inputs[0].shape.as_list()[0] if self._is_graph_network and self.inputs and self.inputs[0].shape.rank else None
        if fixed:
            if batch_size is not None and batch_size != fixed:
                raise ValueError(f"The `batch_size` argument value {batch_size} is incompatible with the specified batch size of your "
                                 f"Input Layer: {fixed}")
            batch_size = fixed
        return ArrayBatches(everything, batch_size, shuffle)

    # -- the public methods

    def fit(self, x: Any = None, y: Any = None, batch_size: Any = None, epochs: int = 1, verbose: int = 1, callbacks: Any = None,
            validation_split: float = 0.0, validation_data: Any = None, shuffle: Any = True, class_weight: Any = None,
            sample_weight: Any = None, initial_epoch: int = 0, steps_per_epoch: Any = None, validation_steps: Any = None,
            validation_freq: Any = 1, max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
            **kwargs: Any) -> Any:
        """Trains for some epochs; returns a history of losses and metrics."""
        if "nb_epoch" in kwargs:
            tf_logging.warning("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._assert_compile_was_called()
        workers_given: dict[str, Any] = {"max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing}
        if validation_split and validation_data is None:
            if is_dataset(x) or is_iterator(x):
                raise ValueError("`validation_split` argument is not supported when input `x` is a dataset or a dataset iterator."
                                 f"Received: x={x}, validation_split={validation_split}")
            if _has_symbolic(x) or _has_symbolic(y):
                raise ValueError("If your data is in the form of symbolic tensors, you cannot use `validation_split`.")
            if is_generator_or_sequence(x):
                raise ValueError("`validation_split` argument is not supported when input `x` is a generator or Sequence.")
            found = self._standardize_user_data(x, y, sample_weight, class_weight)
            first, rest = _split(found, validation_split)
            source: Any = ArrayBatches([*first[0], *first[1], *first[2]], batch_size, shuffle)
            validation: Any = ArrayBatches([*rest[0], *rest[1], *rest[2]], batch_size, False)
        else:
            source = self._source(x, y, sample_weight, class_weight, batch_size, steps_per_epoch, "steps_per_epoch", shuffle,
                                  **workers_given)
            # Data that come one by one are looked at when they come: the first batch says what the inputs are.
            validation = self._validation_source(validation_data, source.batch_size, validation_steps, workers_given)
        if isinstance(source, StreamBatches):
            self._look_ahead(source)
        return loops.fit(self, source, validation, epochs, verbose, callbacks, initial_epoch, validation_freq)

    def _look_ahead(self, source: Any) -> None:
        """Has a model that does not know its inputs see the first batch of a stream."""
        if self._steps is None:
            source.peek()

    def _validation_source(self, data: Any, batch_size: Any, steps: Any, workers_given: Any) -> Any:
        if data is None or isinstance(data, (list, tuple)) and not len(data):
            return None
        if isinstance(data, (list, tuple)):
            if len(data) not in (2, 3):
                raise ValueError(f"When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
                                 f"(x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a dataset "
                                 f"iterator. However we received `validation_data={data}`")
            x, y, w = (*data, None)[:3]
            return self._source(x, y, w, None, None if steps is not None else batch_size, steps, "validation_steps", False)
        found = self._source(data, None, None, None, None, steps, "validation_steps", False, **workers_given)
        found._restarts = is_dataset(data)
        return found

    def evaluate(self, x: Any = None, y: Any = None, batch_size: Any = None, verbose: int = 1, sample_weight: Any = None,
                 steps: Any = None, callbacks: Any = None, max_queue_size: int = 10, workers: int = 1,
                 use_multiprocessing: bool = False) -> Any:
        """The loss and the metrics over data."""
        self._assert_compile_was_called()
        source = self._source(x, y, sample_weight, None, batch_size, steps, "steps", False, max_queue_size=max_queue_size,
                              workers=workers, use_multiprocessing=use_multiprocessing)
        if isinstance(source, StreamBatches):
            self._look_ahead(source)
        return loops.evaluate(self, source, verbose, callbacks)

    def predict(self, x: Any, batch_size: Any = None, verbose: int = 0, steps: Any = None, callbacks: Any = None,
                max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False) -> Any:
        """The outputs for data."""
        source = self._source(x, None, None, None, batch_size, steps, "steps", False, with_targets=False,
                              max_queue_size=max_queue_size, workers=workers, use_multiprocessing=use_multiprocessing)
        if isinstance(source, StreamBatches) and not self.inputs:
            source.peek()
        return loops.predict(self, source, verbose, callbacks)

    def _on_batch(self, mode: str, x: Any, y: Any, sample_weight: Any, class_weight: Any, reset_metrics: bool) -> Any:
        self._assert_compile_was_called()
        if is_dataset(x) or is_iterator(x):
            x, y, sample_weight = _unpacked(next(iter((dataset_batches if is_dataset(x) else iterator_batches)(x)())), True)
        elif _has_symbolic(x) or _has_symbolic(y):
            x, y, sample_weight = next(iter(tensor_batches((x, y, sample_weight))()))
        found = self._standardize_user_data(x, y, sample_weight, class_weight)
        outputs = self._step(mode)([*found[0], *found[1], *found[2]])
        if reset_metrics:
            self.reset_metrics()
        return outputs[0] if len(outputs) == 1 else outputs

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
                       reset_metrics: bool = True) -> Any:
        """One step of training."""
        return self._on_batch(TRAIN, x, y, sample_weight, class_weight, reset_metrics)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
        """The loss and metrics of one batch."""
        return self._on_batch(TEST, x, y, sample_weight, None, reset_metrics)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        if is_dataset(x) or is_iterator(x):
            x = _unpacked(next(iter((dataset_batches if is_dataset(x) else iterator_batches)(x)())), False)[0]
        elif _has_symbolic(x):
            x = next(iter(tensor_batches(x)()))
        found = self._standardize_user_data(x, with_targets=False)[0]
        outputs = self._step(PREDICT)(found)
        return outputs[0] if isinstance(outputs, list) and len(outputs) == 1 else outputs

    def fit_generator(self, generator: Any, steps_per_epoch: Any = None, epochs: int = 1, verbose: int = 1, callbacks: Any = None,
                      validation_data: Any = None, validation_steps: Any = None, validation_freq: Any = 1, class_weight: Any = None,
                      max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, shuffle: Any = True,
                      initial_epoch: int = 0) -> Any:
        """Trains on batches that a generator or Sequence gives."""
        return self.fit(generator, epochs=epochs, verbose=verbose, callbacks=callbacks, validation_data=validation_data,
                        shuffle=shuffle, class_weight=class_weight, initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
                        validation_steps=validation_steps, validation_freq=validation_freq, max_queue_size=max_queue_size,
                        workers=workers, use_multiprocessing=use_multiprocessing)

    def evaluate_generator(self, generator: Any, steps: Any = None, callbacks: Any = None, max_queue_size: int = 10, workers: int = 1,
                           use_multiprocessing: bool = False, verbose: int = 0) -> Any:
        """The loss and metrics over batches that a generator or Sequence gives."""
        return self.evaluate(generator, verbose=verbose, steps=steps, callbacks=callbacks, max_queue_size=max_queue_size,
                             workers=workers, use_multiprocessing=use_multiprocessing)

    def predict_generator(self, generator: Any, steps: Any = None, callbacks: Any = None, max_queue_size: int = 10, workers: int = 1,
                          use_multiprocessing: bool = False, verbose: int = 0) -> Any:
        """The outputs for batches that a generator or Sequence gives."""
        return self.predict(generator, verbose=verbose, steps=steps, callbacks=callbacks, max_queue_size=max_queue_size,
                            workers=workers, use_multiprocessing=use_multiprocessing)


def apply_gradients(optimizer: Any, pairs: list[Any]) -> None:
    """One step of an optimizer, which may clip gradients first."""
    if hasattr(optimizer, "_clipped"):
        pairs = list(zip(optimizer._clipped([g for g, _ in pairs]), [v for _, v in pairs]))
    optimizer.apply_gradients(pairs)


def _ones_for(target: Any, endpoint: Any) -> Any:
    """Weights of one for samples that came without any."""
    if target is None:
        return np.ones((1, 1) if endpoint.sample_weight_mode == "temporal" else (1,), floatx())
    if isinstance(target, Tensor):
        target = target.numpy() if target.is_eager else get_session().run(target)
    return np.ones(np.shape(target)[:2] if endpoint.sample_weight_mode == "temporal" else np.shape(target)[:1], floatx())


def _unpacked(batch: Any, with_targets: bool) -> tuple[Any, Any, Any]:
    """(x, y, sample weights) of an element of a stream."""
    if not isinstance(batch, tuple) or hasattr(batch, "dense_shape"):
        if isinstance(batch, list) and with_targets and len(batch) in (2, 3):
            return (*batch, None)[:3]  # type: ignore[return-value]
        return batch, None, None
    if len(batch) == 1:
        return batch[0], None, None
    if len(batch) in (2, 3):
        return (*batch, None)[:3]  # type: ignore[return-value]
    raise ValueError("Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or (input, target, "
                     f"sample_weights). Received {batch}")


def _refuse(kind: str, x: Any, y: Any, sample_weight: Any, with_targets: bool) -> None:
    if y is not None:
        raise ValueError(f"You passed a {kind} ({x}) as input `x` to your model. In that case, you should not specify a target (`y`) "
                         f"argument, since the {kind} generates both input data and target data. Received: {y}")
    if sample_weight is not None:
        raise ValueError(f"`sample_weight` argument is not supported when input `x` is a {kind}. Instead, you can provide sample_weight "
                         f"as the third element of your {kind}, i.e. (inputs, targets, sample_weight). Received: x={x}, "
                         f"sample_weight={sample_weight}")


def _has_symbolic(x: Any) -> bool:
    return any(isinstance(t, Tensor) and not t.is_eager for t in nest.flatten(x, expand_composites=True))


def _first_length(parts: list[Any]) -> int:
    return next(int(p.shape[0]) for p in parts if p is not None)


def _repeated(parts: list[Any], size: int) -> Any:
    """Batches of arrays, again and again."""
    while True:
        for batch, _ in ArrayBatches(parts, size, False).epoch():
            yield batch


def _split(found: Any, share: float) -> tuple[Any, Any]:
    """The first part of all samples, and the last."""
    first = next(p for p in found[0] if p is not None)
    at = int(int(first.shape[0]) * (1.0 - share))
    cut = lambda part: [[None if p is None else p[part] for p in parts] for parts in found]
    if at == 0 or at >= int(first.shape[0]):
        raise ValueError(f"Training data contains {first.shape[0]} samples, which is not sufficient to split it into a validation and "
                         f"training set as specified by `validation_split={share}`. Either provide more data, or a different value for "
                         "the `validation_split` argument.")
    return cut(slice(0, at)), cut(slice(at, None))
