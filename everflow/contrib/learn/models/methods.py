"""Methods that classifiers share, and those of regressors."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.bundles import classification_signature_fn_with_prob, regression_signature_fn
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.metric_specs import MetricSpec
from everflow.contrib.learn.problem_types import PredictionKey


class ColumnEstimator(LearnEstimator):
    """An estimator with feature columns, by which examples are parsed when it is served."""

    _feature_columns: Any = ()

    def _predict_only(self, key: str, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool) -> Any:
        found = LearnEstimator.predict(self, x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key], as_iterable=as_iterable)
        return (one[key] for one in found) if as_iterable else found[key]

    def _export_only(
        self,
        key: Any,
        signatures: Any,
        export_dir: Any,
        input_fn: Any,
        input_feature_key: Any,
        use_deprecated_input_fn: bool,
        default_batch_size: Any,
        exports_to_keep: Any,
    ) -> Any:
        def parse(unused_estimator: Any, examples: Any) -> Any:
            return tf.contrib.layers.parse_feature_columns_from_examples(examples, self._feature_columns)

        return LearnEstimator.export(
            self,
            export_dir=export_dir,
            input_fn=input_fn or parse,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signatures,
            prediction_key=key,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class Classifier(ColumnEstimator):
    """Predicts classes, unless other outputs are asked for."""

    def predict(  # type: ignore[override]
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, outputs: Any = None, as_iterable: bool = True
    ) -> Any:
        """The classes of examples, or the outputs asked for."""
        if not outputs:
            return self.predict_classes(x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable)
        return super().predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=as_iterable)

    def predict_classes(self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True) -> Any:
        """The classes of examples."""
        found = self._predict_only(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)
        return found if as_iterable else found.reshape(-1)

    def predict_proba(self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True) -> Any:
        """The probabilities of all classes."""
        return self._predict_only(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)

    def export(  # type: ignore[override]
        self,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: Any = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Any = None,
        default_batch_size: Any = 1,
        exports_to_keep: Any = None,
    ) -> Any:
        """Writes a session bundle that gives probabilities."""
        return self._export_only(
            PredictionKey.PROBABILITIES,
            signature_fn or classification_signature_fn_with_prob,
            export_dir,
            input_fn,
            input_feature_key,
            use_deprecated_input_fn,
            default_batch_size,
            exports_to_keep,
        )


class Regressor(ColumnEstimator):
    """Predicts numbers, unless other outputs are asked for."""

    def predict(  # type: ignore[override]
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, outputs: Any = None, as_iterable: bool = True
    ) -> Any:
        """The numbers of examples, or the outputs asked for."""
        if not outputs:
            return self.predict_scores(x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable)
        return super().predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=as_iterable)

    def predict_scores(self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True) -> Any:
        """The numbers of examples."""
        return self._predict_only(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)

    def export(  # type: ignore[override]
        self,
        export_dir: Any,
        input_fn: Any = None,
        input_feature_key: Any = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Any = None,
        default_batch_size: Any = 1,
        exports_to_keep: Any = None,
    ) -> Any:
        """Writes a session bundle that gives numbers."""
        return self._export_only(
            PredictionKey.SCORES,
            signature_fn or regression_signature_fn,
            export_dir,
            input_fn,
            input_feature_key,
            use_deprecated_input_fn,
            default_batch_size,
            exports_to_keep,
        )


class DeepRegressor(Regressor):
    """Metrics that are bare functions are of its numbers."""

    def evaluate(  # type: ignore[override]
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: Any = None,
        steps: Any = None,
        metrics: Any = None,
        name: Any = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        """The metrics of a checkpoint."""
        named = {
            key if isinstance(metric, MetricSpec) or isinstance(key, tuple) else (key, PredictionKey.SCORES): metric
            for key, metric in (metrics or {}).items()
        }
        return super().evaluate(
            x=x,
            y=y,
            input_fn=input_fn,
            feed_fn=feed_fn,
            batch_size=batch_size,
            steps=steps,
            metrics=named,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=hooks,
        )


def as_dict(features: Any) -> dict[str, Any]:
    """Features by name; one that is alone has an empty one."""
    return features if isinstance(features, dict) else {"": features}


def made(optimizer: Any) -> Any:
    """An optimizer, or its name; functions are called to make it."""
    return optimizer() if callable(optimizer) else optimizer
