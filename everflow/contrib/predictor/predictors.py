"""Predictors: `predict = tf.contrib.predictor.from_saved_model(folder)`, then `predict({"x": [[1.0]]})`."""

from __future__ import annotations

import functools
from typing import Any

from everflow import api
from everflow.api import public
from everflow.contrib.learn.alternatives import DEFAULT_INPUT_ALTERNATIVE_KEY, get_input_alternatives, get_output_alternatives
from everflow.contrib.learn.estimator import BaseEstimator
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.graph.graph import Graph
from everflow.saved_model import constants
from everflow.saved_model.loader import load
from everflow.saved_model.tensor_infos import get_tensor_from_tensor_info
from everflow.train.checkpoints.state import latest_checkpoint


@public("contrib.predictor.predictor.Predictor")
class Predictor:
    """A graph in a session, with named inputs and outputs."""

    def __init__(self, graph: Graph | None = None) -> None:
        self._graph = graph or Graph()
        self._session: Any = None
        self._feed_tensors: dict[str, Any] = {}
        self._fetch_tensors: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """{name: input}."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """{name: output}."""
        return self._fetch_tensors

    def __call__(self, input_dict: dict[str, Any]) -> dict[str, Any]:
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self._feed_tensors)}")
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items()}
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)


@public("contrib.predictor.saved_model_predictor.SavedModelPredictor")
class SavedModelPredictor(Predictor):
    """Of a SavedModel."""

    def __init__(
        self,
        export_dir: Any,
        signature_def_key: str | None = None,
        signature_def: Any = None,
        input_names: Any = None,
        output_names: Any = None,
        tags: Any = None,
        graph: Graph | None = None,
        config: Any = None,
    ) -> None:
        super().__init__(graph)
        ways = [signature_def_key is not None, signature_def is not None, input_names is not None or output_names is not None]
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names must both be specified or both be unspecified.")
        if sum(ways) > 1:
            raise ValueError("You must specify at most one of signature_def_key OR signature_def OR(input_names AND output_names).")
        with self._graph.as_default():
            self._session = api.find("Session")(config=config)
            loaded = load(self._session, (tags or constants.SERVING).split(","), export_dir)
        if input_names is None:
            signature = signature_def
            if signature is None:
                key = signature_def_key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
                if key not in loaded.signature_def:
                    raise ValueError(f'Got signature_def_key "{key}". Available signatures are {list(loaded.signature_def)}.')
                signature = loaded.signature_def[key]
            feeds, fetches = signature.inputs, signature.outputs
            find: Any = functools.partial(get_tensor_from_tensor_info, graph=self._graph)
        else:
            feeds, fetches, find = input_names, output_names, self._graph.get_tensor_by_name
        self._feed_tensors, self._fetch_tensors = ({key: find(place) for key, place in named.items()} for named in (feeds, fetches))


@public("contrib.predictor.core_estimator_predictor.CoreEstimatorPredictor")
class EstimatorPredictor(Predictor):
    """Of a tf.estimator.Estimator, with the inputs that it would serve."""

    def __init__(
        self, estimator: Any, serving_input_receiver_fn: Any, output_key: str | None = None, graph: Graph | None = None, config: Any = None
    ) -> None:
        super().__init__(graph)
        if isinstance(estimator, BaseEstimator):
            raise TypeError(
                "Expected estimator to be of type tf.python.estimator.Estimator, but got type tf.contrib.learn.Estimator. "
                "You likely want to call from_contrib_estimator."
            )
        with self._graph.as_default():
            receiver = serving_input_receiver_fn()
            spec = estimator._call_model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
            checkpoint = latest_checkpoint(estimator.model_dir)
            self._session = api.find("train.MonitoredSession")(
                session_creator=api.find("train.ChiefSessionCreator")(
                    config=config or estimator.config.session_config, checkpoint_filename_with_path=checkpoint, scaffold=spec.scaffold
                )
            )
        key = output_key or constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        inputs = receiver.receiver_tensors
        self._feed_tensors = inputs if isinstance(inputs, dict) else {"inputs": inputs}
        try:
            outputs = spec.export_outputs[key]
        except KeyError:
            raise ValueError(f"output_key {key} is not among the export outputs {list(spec.export_outputs)}") from None
        self._fetch_tensors = dict(outputs.outputs) if hasattr(outputs, "outputs") else spec.predictions


@public("contrib.predictor.contrib_estimator_predictor.ContribEstimatorPredictor")
class ContribEstimatorPredictor(Predictor):
    """Of a tf.contrib.learn.Estimator, with one of the inputs and one of the outputs that it would serve."""

    def __init__(
        self,
        estimator: Any,
        prediction_input_fn: Any,
        input_alternative_key: str | None = None,
        output_alternative_key: str | None = None,
        graph: Graph | None = None,
        config: Any = None,
    ) -> None:
        super().__init__(graph)
        if isinstance(estimator, Estimator):
            raise TypeError(
                "Expected estimator to be of type tf.contrib.learn.Estimator, but got type tf.python.estimator.Estimator. "
                "You likely want to call from_estimator."
            )
        with self._graph.as_default():
            inputs = prediction_input_fn()
            ops = estimator._call_model_fn(inputs.features, inputs.labels, ModeKeys.PREDICT)
            self._session = api.find("train.MonitoredSession")(
                session_creator=api.find("train.ChiefSessionCreator")(
                    config=config, checkpoint_filename_with_path=latest_checkpoint(estimator.model_dir), scaffold=ops.scaffold
                )
            )
        input_alternatives, _ = get_input_alternatives(inputs)
        self._feed_tensors = input_alternatives[input_alternative_key or DEFAULT_INPUT_ALTERNATIVE_KEY]
        output_alternatives, output_key = get_output_alternatives(ops, output_alternative_key)
        self._fetch_tensors = output_alternatives[output_key][1]


@public("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Any = None,
    output_names: Any = None,
    tags: Any = None,
    graph: Graph | None = None,
    config: Any = None,
) -> SavedModelPredictor:
    """A predictor of a SavedModel's signature."""
    return SavedModelPredictor(
        export_dir,
        signature_def_key=signature_def_key,
        signature_def=signature_def,
        input_names=input_names,
        output_names=output_names,
        tags=tags,
        graph=graph,
        config=config,
    )


@public("contrib.predictor.from_estimator")
def from_estimator(
    estimator: Any, serving_input_receiver_fn: Any, output_key: str | None = None, graph: Graph | None = None, config: Any = None
) -> EstimatorPredictor:
    """A predictor of an estimator's latest checkpoint."""
    return EstimatorPredictor(estimator, serving_input_receiver_fn, output_key=output_key, graph=graph, config=config)


@public("contrib.predictor.from_contrib_estimator")
def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Any,
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Graph | None = None,
    config: Any = None,
) -> ContribEstimatorPredictor:
    """A predictor of the latest checkpoint of an estimator of tf.contrib.learn."""
    return ContribEstimatorPredictor(
        estimator,
        prediction_input_fn,
        input_alternative_key=input_alternative_key,
        output_alternative_key=output_alternative_key,
        graph=graph,
        config=config,
    )
