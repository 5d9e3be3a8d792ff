"""Losses as objects: a function of samples, weights, and how to make one number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.keras.backend.values import evaluate
from everflow.keras.call_context import graph_of_symbolic
from everflow.keras.losses import functions
from everflow.keras.losses.weighting import ReductionV2, compute_weighted_loss
from everflow.losses.collected import squeeze_or_expand_dimensions


@public("keras.losses.Loss")
@internal("keras.losses.Loss")
class Loss:
    """Base of losses: a subclass says in `call` what each sample costs.

    class Cubed(tf.keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred) ** 3, axis=-1)
    """

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str | None = None) -> None:
        ReductionV2.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        scope = "lambda" if self.name == "<lambda>" else self.name
        with graph_of_symbolic(y_true, y_pred, sample_weight), name_scope(scope or type(self).__name__):
            return compute_weighted_loss(self.call(y_true, y_pred), sample_weight, reduction=self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each sample."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make a loss like this one."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """A loss with these arguments."""
        return cls(**config)


@internal("keras.losses.LossFunctionWrapper")
class LossFunctionWrapper(Loss):
    """A loss whose samples cost what a function says."""

    def __init__(self, fn: Callable[..., Any], reduction: str = ReductionV2.AUTO, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        if isinstance(y_pred, Tensor) and isinstance(y_true, Tensor):
            y_pred, y_true = squeeze_or_expand_dimensions(y_pred, y_true)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        kwargs = {k: evaluate(v) if isinstance(v, Tensor) else v for k, v in self._fn_kwargs.items()}
        return {**super().get_config(), **kwargs}


@public("keras.losses.MeanSquaredError")
class MeanSquaredError(LossFunctionWrapper):
    """The mean of squared differences."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "mean_squared_error") -> None:
        super().__init__(functions.mean_squared_error, name=name, reduction=reduction)


@public("keras.losses.MeanAbsoluteError")
class MeanAbsoluteError(LossFunctionWrapper):
    """The mean of absolute differences."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "mean_absolute_error") -> None:
        super().__init__(functions.mean_absolute_error, name=name, reduction=reduction)


@public("keras.losses.MeanAbsolutePercentageError")
class MeanAbsolutePercentageError(LossFunctionWrapper):
    """The mean of absolute differences as percentages."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "mean_absolute_percentage_error") -> None:
        super().__init__(functions.mean_absolute_percentage_error, name=name, reduction=reduction)


@public("keras.losses.MeanSquaredLogarithmicError")
class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """The mean of squared differences of logarithms."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "mean_squared_logarithmic_error") -> None:
        super().__init__(functions.mean_squared_logarithmic_error, name=name, reduction=reduction)


@public("keras.losses.BinaryCrossentropy")
class BinaryCrossentropy(LossFunctionWrapper):
    """The cross entropy of labels that are 0 or 1."""

    def __init__(
        self, from_logits: bool = False, label_smoothing: Any = 0, reduction: str = ReductionV2.AUTO, name: str = "binary_crossentropy"
    ) -> None:
        super().__init__(
            functions.binary_crossentropy, name=name, reduction=reduction, from_logits=from_logits, label_smoothing=label_smoothing
        )
        self.from_logits = from_logits


@public("keras.losses.CategoricalCrossentropy")
class CategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of one-hot labels."""

    def __init__(
        self, from_logits: bool = False, label_smoothing: Any = 0, reduction: str = ReductionV2.AUTO, name: str = "categorical_crossentropy"
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy, name=name, reduction=reduction, from_logits=from_logits, label_smoothing=label_smoothing
        )


@public("keras.losses.SparseCategoricalCrossentropy")
class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of labels that are numbers of classes."""

    def __init__(self, from_logits: bool = False, reduction: str = ReductionV2.AUTO, name: str = "sparse_categorical_crossentropy") -> None:
        super().__init__(functions.sparse_categorical_crossentropy, name=name, reduction=reduction, from_logits=from_logits)


@public("keras.losses.Hinge")
class Hinge(LossFunctionWrapper):
    """The hinge loss."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "hinge") -> None:
        super().__init__(functions.hinge, name=name, reduction=reduction)


@public("keras.losses.SquaredHinge")
class SquaredHinge(LossFunctionWrapper):
    """The squared hinge loss."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "squared_hinge") -> None:
        super().__init__(functions.squared_hinge, name=name, reduction=reduction)


@public("keras.losses.CategoricalHinge")
class CategoricalHinge(LossFunctionWrapper):
    """The hinge loss of classes."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "categorical_hinge") -> None:
        super().__init__(functions.categorical_hinge, name=name, reduction=reduction)


@public("keras.losses.Poisson")
class Poisson(LossFunctionWrapper):
    """The loss of counts."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "poisson") -> None:
        super().__init__(functions.poisson, name=name, reduction=reduction)


@public("keras.losses.LogCosh")
class LogCosh(LossFunctionWrapper):
    """The logarithm of the hyperbolic cosine of differences."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "logcosh") -> None:
        super().__init__(functions.logcosh, name=name, reduction=reduction)


@public("keras.losses.KLDivergence")
class KLDivergence(LossFunctionWrapper):
    """Kullback and Leibler's divergence."""

    def __init__(self, reduction: str = ReductionV2.AUTO, name: str = "kullback_leibler_divergence") -> None:
        super().__init__(functions.kullback_leibler_divergence, name=name, reduction=reduction)


@public("keras.losses.Huber")
class Huber(LossFunctionWrapper):
    """Squares of small differences, multiples of large ones."""

    def __init__(self, delta: float = 1.0, reduction: str = ReductionV2.AUTO, name: str = "huber_loss") -> None:
        super().__init__(functions.huber_loss, name=name, reduction=reduction, delta=delta)


@public("keras.losses.CosineSimilarity")
class CosineSimilarity(LossFunctionWrapper):
    """The cosine of the angle between vectors."""

    def __init__(self, axis: int = -1, reduction: str = ReductionV2.AUTO, name: str = "cosine_similarity") -> None:
        super().__init__(functions.cosine_proximity, reduction=reduction, name=name, axis=axis)
