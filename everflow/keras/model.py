"""tf.keras.Model: a network that is trained, evaluated and asked as a whole."""

from __future__ import annotations

import contextlib
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.distribute.strategy_context import default_strategy, has_strategy
from everflow.eager.context import executing_eagerly
from everflow.eager.functions import RUN_EAGERLY
from everflow.graph.dtypes import as_dtype
from everflow.graph.scopes import init_scope, name_scope
from everflow.graph.tensor_spec import TensorSpec
from everflow.keras.backend.learning_phase import symbolic_learning_phase
from everflow.keras.callbacks.base import PREDICT, TEST, TRAIN
from everflow.keras.config import floatx
from everflow.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer
from everflow.keras.network import Network
from everflow.keras.optimizers.names import get as get_optimizer
from everflow.keras.training import loops
from everflow.keras.training.arrays import generic_output_names, refuse_undeclared, standardize_input_data
from everflow.keras.training.compiling import Compiled
from everflow.keras.training.data import Workers, batches_of, one_batch, split_batches, validation_batches
from everflow.keras.training.eager_steps import EagerSteps, apply_gradients
from everflow.keras.training.inputs import ModelInputs
from everflow.keras.training.replicated_steps import ReplicatedSteps, own_share
from everflow.keras.training.spread_copy import SpreadCopy
from everflow.keras.training.steps import GraphSteps
from everflow.platform import logging as tf_logging
from everflow.platform import version2_switch


@public("keras.Model", "keras.models.Model")
@internal("keras.engine.training.Model")
class Model(Network):
    """A network that a program trains and uses as a whole: `Model(inputs, outputs)`, or a subclass with its own `call`.

    `fit` reads in one direction: training/data.py turns its arguments into batches, training/loops.py goes over epochs and batches
    and calls callbacks, and a step, which training/steps.py (or eager_steps.py) makes of what `compile` was told, runs on each batch.
    """

    loss: Any
    loss_weights: Any
    sample_weight_mode: Any
    history: Any
    stop_training: bool
    _is_compiled = False
    _compiled: Compiled | None = None
    _steps: Any = None
    _run_eagerly: Any = None
    _input_structure: Any = None
    _spread: SpreadCopy | None = None

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_model"

    # -- compile

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **kwargs: Any,
    ) -> None:
        """Says how the model is trained: with which optimizer, and by which losses and metrics."""
        given = arguments(locals())
        self._run_eagerly = kwargs.pop("run_eagerly", None)
        runs_functions = kwargs.pop("experimental_run_tf_function", executing_eagerly())
        self._spread = None
        if distribute is not None:
            self._spread = self._spread_by(given, runs_functions)
        if kwargs and executing_eagerly():
            raise ValueError(
                f"Session keyword arguments are not supported when `run_eagerly=True`. You passed the following Session arguments: {kwargs}"
            )
        made: Any = [get_optimizer(o) for o in optimizer] if isinstance(optimizer, (list, tuple)) else get_optimizer(optimizer)
        if self._dtype_policy.loss_scale is not None:
            made = [self._with_scaled_loss(o) for o in made] if isinstance(made, list) else self._with_scaled_loss(made)
        if hasattr(made, "_track_trackable"):
            self._track_trackable(made, name="optimizer", overwrite=True)
        self._note(optimizer=made, loss=loss or {}, loss_weights=loss_weights, sample_weight_mode=sample_weight_mode)
        self._compiled = Compiled(metrics or [], weighted_metrics, target_tensors, kwargs)
        self._is_compiled = True
        self._steps = None
        self.stop_training = False
        if self.run_eagerly and target_tensors is not None:
            raise ValueError("target_tensors argument is not supported when running a model eagerly.")
        if self.outputs and self.built:
            self._finish_compile(self.outputs)

    def _spread_by(self, given: dict[str, Any], runs_functions: bool) -> SpreadCopy | None:
        """What `compile(distribute=strategy)` asks for: a copy of the model in the strategy's scope."""
        strategy = given.pop("distribute")
        if version2_switch.enabled() or runs_functions:
            raise ValueError(
                "Distribute argument in compile is not available in TF 2.0 please create the model under the distribution strategy scope."
            )
        tf_logging.warning("Distribute argument in compile is deprecated please create the model under the distribution strategy scope.")
        return None if strategy is default_strategy() else SpreadCopy(self, strategy, given)

    def _with_scaled_loss(self, optimizer: Any) -> Any:
        """The optimizer with the loss scale of the model's policy, unless it has one already."""
        if isinstance(optimizer, LossScaleOptimizer):
            return optimizer
        if not isinstance(optimizer, tf.keras.optimizers.Optimizer):
            raise ValueError(
                f'"optimizer" must be an instance of tf.keras.optimizers.Optimizer when a dype policy with a loss scale  used, but got: '
                f"{optimizer}. Using policy: {self._dtype_policy}"
            )
        return LossScaleOptimizer(optimizer, self._dtype_policy.loss_scale)

    def _finish_compile(self, outputs: Any) -> None:
        """The rest of `compile`, when the outputs are known."""
        assert self._compiled is not None
        if not self.output_names:
            self._note(output_names=generic_output_names(outputs))
        with self._strategy_scope():
            self._compiled.settle(self, outputs)
        endpoints = self._compiled.endpoints
        if self.run_eagerly:
            self._steps = EagerSteps(self, endpoints)
        else:
            self._steps = self._kind_of_steps()(self, endpoints, self._compiled.session_arguments)
            self._steps.compare(self._compiled.given_targets(self.output_names))

    @property
    def run_eagerly(self) -> bool:
        """Whether layers run as Python, op by op."""
        if self._run_eagerly is True and not executing_eagerly():
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        if self.dynamic:
            only = (
                "Your model contains layers that can only be successfully run in eager execution (layers constructed with `dynamic=True`). "
            )
            if not executing_eagerly():
                raise ValueError(only + "You must enable eager execution with `tf.enable_eager_execution()`.")
            if self._run_eagerly is False:
                raise ValueError(only + "You cannot set `run_eagerly=False`.")
            return True
        return bool(self._run_eagerly or RUN_EAGERLY.value) and executing_eagerly()

    @run_eagerly.setter
    def run_eagerly(self, value: bool) -> None:
        self._run_eagerly = value

    def _assert_compile_was_called(self) -> None:
        if not self._is_compiled:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")

    # -- what the model knows of its inputs

    def _check_call_args(self, method: str) -> None:
        """Refuses a model whose `call` wants more than what this method gives it, before its first data come."""
        if not self.inputs and (further := self._further_call_args()):
            raise ValueError(
                f"Models passed to `{method}` can only have `training` and the first argument in `call` as positional arguments, "
                f"found: {further}."
            )

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Makes symbolic inputs (and outputs) for a model that did not know its inputs."""
        found = ModelInputs(inputs)
        names = found.get_input_names()
        is_single = isinstance(inputs, (list, tuple)) and len(inputs) == 1 and not hasattr(inputs, "dense_shape")
        self._note(_input_structure=None if is_single else inputs, _feed_input_names=names)
        symbolic = found.get_symbolic_inputs()
        if isinstance(symbolic, list) and len(symbolic) == 1:
            symbolic = symbolic[0]
        self._set_save_spec(symbolic)
        if self.run_eagerly:
            self._note(input_names=names)
            return
        flat = nest.flatten(symbolic)
        if outputs is None:
            arguments = {}
            if self._call_takes("training"):
                arguments["training"] = symbolic_learning_phase() if training is None else training
            with flat[0].graph.as_default():
                outputs = self(symbolic, **arguments)
        made = nest.flatten(outputs)
        self._note(inputs=flat, outputs=made, input_names=names, output_names=generic_output_names(made), _feed_inputs=flat)
        self.built = True

    def _set_save_spec(self, inputs: Any) -> None:
        """Remembers what a model is called with, for those who save it."""
        if "_saved_model_inputs_spec" not in vars(self):
            self._note(
                _saved_model_inputs_spec=nest.map_structure(
                    lambda t: TensorSpec(t.shape, t.dtype.base_dtype), inputs, expand_composites=False
                )
            )

    def _is_ready(self, to_compare: bool) -> bool:
        """Whether the model knows its inputs and, to compare outputs with targets, its losses."""
        if to_compare and not (self._compiled is not None and self._compiled.is_settled):
            return False
        return bool(self.inputs or self.run_eagerly and self.input_names)

    def _prepare_for(self, x: Any, to_compare: bool) -> None:
        """Learns from data what the model does not know of itself, and finishes `compile`."""
        if to_compare:
            self._assert_compile_was_called()
        if not self._is_ready(False):
            refuse_undeclared(x)
            with self._strategy_scope():
                self._set_inputs(x)
        if self._is_ready(to_compare):
            return
        outputs = self.outputs
        if self.run_eagerly and not outputs:
            given = standardize_input_data(x, self._feed_input_names, None, check_batch_axis=False, exception_prefix="input")
            sample = EagerSteps(self).inputs_of([part[:1] if hasattr(part, "shape") else part for part in given])
            outputs = nest.flatten(self(sample, **({"training": False} if self._call_takes("training") else {})))
        self._finish_compile(outputs)

    def _input_dtypes(self, number: int) -> list[Any]:
        return [t.dtype for t in self._feed_inputs] or [as_dtype(self.dtype or floatx())] * number

    def _arranged(self, tensors: list[Any]) -> Any:
        """The tensors of a batch in the structure of the inputs."""
        structure = self._nested_inputs if self._is_graph_network else self._input_structure
        if structure is None or not isinstance(structure, (list, tuple, dict)):
            return tensors[0] if len(tensors) == 1 else tensors
        return nest.pack_sequence_as(structure, tensors)

    # -- metrics

    @property
    def metrics(self) -> list[Any]:
        """The metrics of `compile`, and those that layers added."""
        found = [m for e in self._training_endpoints for m in (*e.metrics.values(), *e.weighted_metrics.values())]
        return _unique([*found, *self._own_and_layers_metrics()])

    @property
    def metrics_names(self) -> list[str]:
        """What losses and metrics are called, in the order in which they are returned."""
        compiled = self._compiled.metric_names if self._compiled is not None else []
        return ["loss", *compiled, *(m.name for m in self._added_metrics())]

    def reset_metrics(self) -> None:
        """Has all metrics start again."""
        for metric in _unique([*(m for e in self._training_endpoints for m in e.all_metrics), *self.metrics]):
            metric.reset_states()

    def _added_metrics(self) -> list[Any]:
        """The metrics that layers and the model itself added."""
        known = {id(m) for e in self._training_endpoints for m in e.all_metrics}
        return _unique([m for m in self._own_and_layers_metrics() if id(m) not in known and hasattr(m, "_call_result")])

    def _own_and_layers_metrics(self) -> list[Any]:
        return [*self._metrics, *(m for layer in self._layers for m in getattr(layer, "metrics", ()))]

    # -- steps

    def _step_of_mode(self, mode: str) -> Any:
        """A function that runs one step, given a list of the arrays of inputs, targets and weights."""
        if self._steps is None:
            self._steps = EagerSteps(self) if self.run_eagerly else self._predicting_steps()
        if mode == TRAIN and not self.run_eagerly:
            self._check_trainable_weights_consistency()
        return self._steps.step(mode)

    def _strategy_scope(self) -> Any:
        """Where the variables of metrics and the optimizer are made as those of the model were."""
        strategy = self._distribution_strategy
        return contextlib.nullcontext() if strategy is None or has_strategy() else strategy.scope()

    def _kind_of_steps(self) -> Any:
        return GraphSteps if self._distribution_strategy is None else ReplicatedSteps

    def _predicting_steps(self) -> GraphSteps:
        """Steps of a model that is not compiled, or not yet to the end."""
        return self._kind_of_steps()(self, session_arguments=self._compiled.session_arguments if self._compiled is not None else None)

    def _optimizer_updates(self, variables: Any, loss: Any) -> list[Any]:
        """What a step of training changes."""
        return self.optimizer.get_updates(params=variables, loss=loss)

    def _apply_gradients(self, pairs: list[Any]) -> None:
        """Changes variables at once."""
        apply_gradients(self.optimizer, pairs)

    def _make_optimizer_variables(self) -> None:
        """Makes the variables that the optimizer keeps, before the first step."""
        if not self._is_ready(True) and self.outputs:
            self._finish_compile(self.outputs)
        if not self.run_eagerly:
            self._make_train_function()
            return
        with init_scope(), name_scope(self.optimizer._name):
            self.optimizer.iterations  # noqa: B018 (makes the variable)
            self.optimizer._create_hypers()
            self.optimizer._create_slots(self.trainable_weights)

    def _check_trainable_weights_consistency(self) -> None:
        if [id(w) for w in self.trainable_weights] != [id(w) for w in self._collected_trainable_weights]:
            tf_logging.log_first_n(
                tf_logging.WARN,
                "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` "
                "without calling `model.compile` after ?",
                1,
            )

    # -- fit, evaluate, predict

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: Any = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: Any = None,
        validation_steps: Any = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Trains for some epochs; returns a history of losses and metrics."""
        if self._spread is not None:
            return self._spread.run("fit", arguments(locals()))
        if "nb_epoch" in kwargs:
            tf_logging.warning("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._assert_compile_was_called()
        self._check_call_args("fit")
        x, y, sample_weight, batch_size = own_share(self._distribution_strategy, x, y, sample_weight, batch_size, shuffle)
        if validation_split and validation_data is None:
            batches, validation = split_batches(self, x, y, sample_weight, class_weight, validation_split, batch_size, shuffle)
        else:
            ahead = Workers(workers, use_multiprocessing, max_queue_size)
            batches = batches_of(self, x, y, sample_weight, class_weight, batch_size, steps_per_epoch, "steps_per_epoch", shuffle, ahead)
            size = batches.batch_size
            if batches.from_generator and isinstance(validation_data, (list, tuple)) and validation_steps is None:
                size = batches.peek().shape[0]
            validation = validation_batches(self, validation_data, size, validation_steps, ahead)
        self._look_ahead(batches)
        train, test = self._step_of_mode(TRAIN), None if validation is None else self._step_of_mode(TEST)
        return loops.fit(self, train, batches, test, validation, epochs, verbose, callbacks, initial_epoch, validation_freq)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: Any = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: Any = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss and the metrics over data."""
        if self._spread is not None:
            return self._spread.run("evaluate", arguments(locals()))
        self._assert_compile_was_called()
        self._check_call_args("evaluate")
        x, y, sample_weight, batch_size = own_share(self._distribution_strategy, x, y, sample_weight, batch_size, False)
        batches = batches_of(
            self, x, y, sample_weight, batch_size=batch_size, steps=steps, workers=Workers(workers, use_multiprocessing, max_queue_size)
        )
        self._look_ahead(batches)
        return loops.evaluate(self, self._step_of_mode(TEST), batches, verbose, callbacks)

    def predict(
        self,
        x: Any,
        batch_size: Any = None,
        verbose: int = 0,
        steps: Any = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for data."""
        if self._spread is not None:
            return self._spread.run("predict", arguments(locals()))
        self._check_call_args("predict")
        batches = batches_of(
            self, x, batch_size=batch_size, steps=steps, with_targets=False, workers=Workers(workers, use_multiprocessing, max_queue_size)
        )
        self._look_ahead(batches, to_compare=False)
        return loops.predict(self, self._step_of_mode(PREDICT), batches, verbose, callbacks)

    def _look_ahead(self, batches: Any, to_compare: bool = True) -> None:
        """Has a model that does not know its inputs see the first batch of a stream."""
        if not self._is_ready(to_compare):
            batches.peek()

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, reset_metrics: bool = True) -> Any:
        """One step of training."""
        self._check_call_args("train_on_batch")
        return self._on_batch(TRAIN, one_batch(self, x, y, sample_weight, class_weight), reset_metrics)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
        """The loss and metrics of one batch."""
        self._check_call_args("test_on_batch")
        return self._on_batch(TEST, one_batch(self, x, y, sample_weight), reset_metrics)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        self._check_call_args("predict_on_batch")
        return self._on_batch(PREDICT, one_batch(self, x, with_targets=False), False)

    def _on_batch(self, mode: str, arrays: list[Any], reset_metrics: bool) -> Any:
        outputs = self._step_of_mode(mode)(arrays)
        if reset_metrics:
            self.reset_metrics()
        return outputs[0] if len(outputs) == 1 else outputs

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: Any = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: Any = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: Any = True,
        initial_epoch: int = 0,
    ) -> Any:
        """Trains on batches that a generator or Sequence gives."""
        return self.fit(
            generator,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            shuffle=shuffle,
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: Any = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The loss and metrics over batches that a generator or Sequence gives."""
        return self.evaluate(
            generator,
            verbose=verbose,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    def predict_generator(
        self,
        generator: Any,
        steps: Any = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The outputs for batches that a generator or Sequence gives."""
        return self.predict(
            generator,
            verbose=verbose,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    # -- what programs of that time look up in a compiled model

    @property
    def _training_endpoints(self) -> list[Any]:
        return self._compiled.endpoints if self._compiled is not None else []

    @property
    def _fed_endpoints(self) -> list[Any]:
        return [e for e in self._training_endpoints if not e.skips_target and (e.feeds_target or self.run_eagerly)]

    @property
    def total_loss(self) -> Any:
        """The tensor that training makes small."""
        return self._steps.total_loss

    @total_loss.setter
    def total_loss(self, value: Any) -> None:
        self._steps.total_loss = value

    loss_functions = property(lambda self: [e.loss_fn for e in self._training_endpoints])
    sample_weights = property(lambda self: [e.sample_weight for e in self._training_endpoints])
    _targets = property(lambda self: [e.target for e in self._training_endpoints if not e.skips_target])
    _feed_targets = property(lambda self: [e.target for e in self._training_endpoints if e.feeds_target])
    _feed_output_names = property(lambda self: [e.output_name for e in self._fed_endpoints])
    _feed_loss_fns = property(lambda self: [e.loss_fn for e in self._fed_endpoints])
    _feed_output_shapes = property(lambda self: [e.feed_shape for e in self._fed_endpoints])
    _feed_sample_weights = property(lambda self: [e.sample_weight for e in self._training_endpoints if e.sample_weight is not None])
    _loss_weights_list = property(lambda self: [e.loss_weight for e in self._training_endpoints])
    _compile_metrics = property(lambda self: self._compiled.metrics)
    _compile_weighted_metrics = property(lambda self: self._compiled.weighted_metrics)
    _collected_trainable_weights = property(lambda self: self._compiled.trainable_weights if self._compiled is not None else [])
    train_function = property(lambda self: self._known_function(TRAIN))
    test_function = property(lambda self: self._known_function(TEST))
    predict_function = property(lambda self: self._known_function(PREDICT))

    def _known_function(self, mode: str) -> Any:
        return self._steps.functions.get(mode) if isinstance(self._steps, GraphSteps) else None

    def _make_train_function(self) -> Any:
        self._check_trainable_weights_consistency()
        return self._steps.function(TRAIN)

    def _make_test_function(self) -> Any:
        return self._steps.function(TEST)

    def _make_predict_function(self) -> Any:
        if self._steps is None:
            self._steps = self._predicting_steps()
        return self._steps.function(PREDICT)


def _unique(items: list[Any]) -> list[Any]:
    return list({id(x): x for x in items}.values())
