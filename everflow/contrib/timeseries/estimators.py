"""Estimators of time series models."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.timeseries import serving_inputs
from everflow.contrib.timeseries.anomaly_ar_model import AnomalyMixtureARModel
from everflow.contrib.timeseries.ar_model import ARModel
from everflow.contrib.timeseries.heads import OneShotPredictionHead, TimeSeriesRegressionHead
from everflow.contrib.timeseries.input_statistics import InputStatisticsFromMiniBatch
from everflow.contrib.timeseries.prediction_networks import FlatPredictionModel, LSTMPredictionModel
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.state_managers import ChainingStateManager, FilteringOnlyStateManager, PassthroughStateManager
from everflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space.model import StateSpaceModel
from everflow.contrib.timeseries.state_space.postprocessing import StateInterpolatingAnomalyDetector
from everflow.contrib.timeseries.state_space.structural import MultiResolutionStructuralEnsemble
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator


@public("contrib.timeseries.TimeSeriesRegressor")
class TimeSeriesRegressor(Estimator):
    """An estimator of any time series model."""

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Any = TimeSeriesRegressionHead,
    ) -> None:
        statistics = InputStatisticsFromMiniBatch(dtype=model.dtype, num_features=model.num_features)
        if state_manager is None:
            state_manager = FilteringOnlyStateManager() if isinstance(model, ARModel) else PassthroughStateManager()
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=tf.train.AdamOptimizer(0.02) if optimizer is None else optimizer,
            input_statistics_generator=statistics,
        )
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], Any]:
        """What an export with `OneShotPredictionHead` takes: Examples with values to filter and all times."""
        return lambda: serving_inputs.parsing_receiver(
            self._model, filtering_length, prediction_length, default_batch_size, values_input_dtype, truncate_values
        )

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], Any]:
        """What an export takes: times, values and a state as tensors."""
        return lambda: serving_inputs.raw_receiver(self._model, default_batch_size, default_series_length)


@public("contrib.timeseries.ARRegressor")
class ARRegressor(TimeSeriesRegressor):
    """An estimator of autoregressive models; with a prior probability of anomalies, of those that allow for them."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Any = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Any = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        if optimizer is None:
            optimizer = tf.train.AdagradOptimizer(0.1)
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError("anomaly_prior_probability is required if anomaly_distribution is specified.")
        settings: dict[str, Any] = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "prediction_model_factory": functools.partial(FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes),
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
        }
        if anomaly_prior_probability is None:
            model = ARModel(loss=loss, **settings)
        elif loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError("AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument.")
        else:
            distribution = anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability, anomaly_distribution=distribution, **settings
            )
        super().__init__(model=model, state_manager=FilteringOnlyStateManager(), optimizer=optimizer, model_dir=model_dir, config=config)


@published("estimators.LSTMAutoRegressor")
class LSTMAutoRegressor(TimeSeriesRegressor):
    """An estimator of autoregressive models with LSTMs, which serves Examples."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: str | None = None,
        num_features: int = 1,
        extra_feature_columns: Any = None,
        num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: Any = None,
    ) -> None:
        windows = {"input_window_size": input_window_size, "output_window_size": output_window_size, "num_time_buckets": num_timesteps}
        optimizer = get_optimizer_instance(optimizer, learning_rate=0.01)
        network = functools.partial(LSTMPredictionModel, num_units=num_units)
        features = {"num_features": num_features, "exogenous_feature_columns": extra_feature_columns}
        model = ARModel(periodicities=periodicities, loss=loss, prediction_model_factory=network, **windows, **features)
        super().__init__(model, FilteringOnlyStateManager(), optimizer, model_dir, config, OneShotPredictionHead)


@published("estimators.StateSpaceRegressor")
class StateSpaceRegressor(TimeSeriesRegressor):
    """An estimator of state space models; states go from window to window."""

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Any = TimeSeriesRegressionHead,
    ) -> None:
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                f"StateSpaceRegressor only supports state space models (children of StateSpaceModel) in its `model` argument, got {model}."
            )
        super().__init__(
            model=model,
            state_manager=ChainingStateManager() if state_manager is None else state_manager,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )


@public("contrib.timeseries.StructuralEnsembleRegressor")
class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An estimator of level, trend, periods and moving averages together."""

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: Any = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Any = None,
        exogenous_update_condition: Any = None,
        dtype: Any = tf.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Any = TimeSeriesRegressionHead,
    ) -> None:
        chance = anomaly_prior_probability
        configuration = StateSpaceModelConfiguration(
            num_features=num_features,
            dtype=dtype,
            filtering_postprocessor=None if chance is None else StateInterpolatingAnomalyDetector(anomaly_prior_probability=chance),
            exogenous_feature_columns=exogenous_feature_columns,
            exogenous_update_condition=exogenous_update_condition,
        )
        orders = (cycle_num_latent_values, moving_average_order, autoregressive_order)
        ensemble = MultiResolutionStructuralEnsemble(*orders, periodicities, configuration=configuration)
        super().__init__(ensemble, None, optimizer, model_dir, config, head_type)
