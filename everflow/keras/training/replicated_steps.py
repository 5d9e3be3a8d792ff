"""Steps of a model under a strategy: each replica gets its part of a batch, and the optimizer adds up what they say."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.data.dataset import DatasetV2
from everflow.data.tuning import _RebatchDataset
from everflow.distribute.sharding import auto_shard_dataset
from everflow.distribute.values import PerReplica
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.keras.losses.weighting import ReductionV2
from everflow.keras.training.steps import GraphSteps, _unique, loss_of, masked_weight


def parts_of(strategy: Any, fed: Any) -> Any:
    """Rows of a batch for each replica of this process: all but the last get the same number."""
    devices = strategy.extended._device_map
    count = devices.num_replicas_in_graph
    if count == 1:
        return fed
    if not isinstance(fed, tf.Tensor):
        raise ValueError(f"Only dense batches can be split among replicas, not {fed}.")
    rows = tf.shape(fed)[0]
    each = (rows + count - 1) // count
    parts = []
    for i, where in enumerate(devices.all_devices):
        with tf.device(where):
            part = fed[tf.minimum(i * each, rows) : tf.minimum((i + 1) * each, rows)]
            part.set_shape([None, *fed.shape.as_list()[1:]])
            parts.append(part)
    return PerReplica(devices, parts)


class ReplicatedSteps(GraphSteps):
    """Steps in a model's graph, with the model called once for each replica."""

    @property
    def _strategy(self) -> Any:
        return self.model._distribution_strategy

    def _compute(self) -> None:
        """What replicas compute is made for each mode: only training writes to variables."""

    def _replicas_run(self, is_training: bool) -> tuple[Any, list[Any], list[Any]]:
        """(the loss, the values of metrics, what must be done) of a step of all replicas."""
        strategy, model = self._strategy, self.model
        compared = [e for e in self.endpoints if not e.skips_target]
        inputs = [parts_of(strategy, t) for t in model.inputs]
        targets = [parts_of(strategy, e.target) for e in compared]
        weights = [None if e.sample_weight is None else parts_of(strategy, e.sample_weight) for e in compared]
        with strategy.scope():
            loss, updates, added = strategy.extended.call_for_each_replica(self._replica, args=(inputs, targets, weights, is_training))
            done = [u for u in nest.flatten([strategy.experimental_local_results(u) for u in updates]) if u is not None]
            total = strategy.reduce(tf.distribute.ReduceOp.SUM, loss, axis=None)
            with control_dependencies(done):
                metrics = [*(e.loss_metric for e in compared if e.loss_metric is not None), *self._metrics_in_order()]
                values = [metric.result() for metric in metrics]
                others = [metric.result() for metric in added]
        return total, [*values, *others], done

    def _metrics_in_order(self) -> list[Any]:
        return [m for e in self.endpoints if not e.skips_target for m in (*e.metrics.values(), *e.weighted_metrics.values())]

    def _replica(self, inputs: list[Any], targets: list[Any], weights: list[Any], is_training: bool) -> tuple[Any, list[Any], list[Any]]:
        """One replica's part of a step."""
        model = self.model
        known = {id(u) for u in (*model.get_updates_for(None), *model.get_updates_for(inputs))}
        outputs = nest.flatten(model(model._arranged(inputs)))
        updates = [u for u in (*model.get_updates_for(None), *model.get_updates_for(inputs)) if id(u) not in known]
        scale = 1.0 / self._strategy.num_replicas_in_sync
        total: Any = None
        counted: list[Any] = []
        with name_scope("loss"):
            compared = [(e, outputs[i]) for i, e in enumerate(self.endpoints) if not e.skips_target]
            for (e, y_pred), y_true, weight in zip(compared, targets, weights):
                mask = getattr(y_pred, "_keras_mask", None)
                loss = loss_of(e, y_true, y_pred, weight, mask)
                if e.loss_metric is not None:
                    counted.append(e.loss_metric.update_state(loss))
                if getattr(e.loss_fn, "reduction", ReductionV2.AUTO) in (ReductionV2.AUTO, ReductionV2.SUM_OVER_BATCH_SIZE):
                    # The mean over the whole batch is the mean of the replicas' means.
                    loss = loss * scale
                if e.loss_weight != 1.0:
                    loss = e.loss_weight * loss
                total = loss if total is None else total + loss
            extra = _unique([*model.get_losses_for(None), *model.get_losses_for(inputs)])
            if extra:
                added = tf.add_n([tf.cast(x, total.dtype) if total is not None else x for x in extra]) * scale
                total = added if total is None else total + added
            if total is None:
                raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        with name_scope("metrics"):
            for (e, y_pred), y_true, weight in zip(compared, targets, weights):
                mask = getattr(y_pred, "_keras_mask", None)
                for metrics, given in ((e.metrics, None), (e.weighted_metrics, weight)):
                    for metric in metrics.values():
                        counted.append(metric.update_state(y_true, y_pred, sample_weight=masked_weight(given, mask, y_pred)))
        steps: list[Any] = []
        if is_training and model._collected_trainable_weights:
            with name_scope("training"):
                steps = model._optimizer_updates(model._collected_trainable_weights, total)
        in_metrics = {id(u) for m in self._compiled_metrics() for u in m._updates}
        further = [u for u in updates if id(u) not in in_metrics] if is_training else []
        return total, [*counted, *steps, *further], list(model._added_metrics())

    def _train_function(self) -> Any:
        total, values, done = self._replicas_run(True)
        return self._made("train_function", self._fed(), [total, *values], done)

    def _test_function(self) -> Any:
        total, values, done = self._replicas_run(False)
        return self._made("test_function", self._fed(), [total, *values], done)

    def _predict_function(self) -> Any:
        strategy, model = self._strategy, self.model
        with strategy.scope():
            outputs = strategy.extended.call_for_each_replica(
                lambda *inputs: nest.flatten(model(model._arranged(list(inputs)))), args=[parts_of(strategy, t) for t in model.inputs]
            )
            joined = []
            for output in outputs:
                parts = strategy.experimental_local_results(output)
                joined.append(tf.concat(parts, 0) if len(parts) > 1 else parts[0])
        return self._made("predict_function", model._feed_inputs, joined, model.state_updates)


def own_share(strategy: Any, x: Any, y: Any, sample_weight: Any, batch_size: int | None, shuffle: Any) -> tuple[Any, Any, Any, int | None]:
    """This worker's part of the data, where several processes train together: of each batch its rows, or of a dataset's files its own."""
    if strategy is None or not strategy._in_multi_worker_mode():
        return x, y, sample_weight, batch_size
    if not isinstance(x, DatasetV2):
        given = [part for part in (x, y, sample_weight) if part is not None]
        dataset = tf.data.Dataset.from_tensor_slices(tuple(given) if len(given) > 1 else given[0])
        rows = len(nest.flatten(x)[0])
        if shuffle:
            # Every worker goes through the data in the same order.
            dataset = dataset.shuffle(rows, seed=rows, reshuffle_each_iteration=False)
        x, y, sample_weight = dataset.batch(batch_size or 32), None, None
    context = strategy.extended._own_context()
    shared = _RebatchDataset(x, context.num_input_pipelines)
    return auto_shard_dataset(shared, context.num_input_pipelines, context.input_pipeline_id), y, sample_weight, None
