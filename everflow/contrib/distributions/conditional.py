"""Distributions whose methods take more than a value."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.distributions.base import Distribution
from everflow.distributions.transformed import TransformedDistribution


@public("contrib.distributions.ConditionalDistribution")
class ConditionalDistribution(Distribution):
    """A distribution that may depend on keywords, which `_sample_n`, `_log_prob` and so on get."""

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample", **condition_kwargs: Any) -> Any:
        """Samples of this shape."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Any:
        """The logarithm of the density, or of the probability."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Any:
        """The density, or the probability."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Any:
        """The logarithm of `cdf`."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Any:
        """The probability of a sample that is not larger."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any) -> Any:
        """The logarithm of `survival_function`."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value: Any, name: str = "survival_function", **condition_kwargs: Any) -> Any:
        """The probability of a sample that is larger."""
        return self._call_survival_function(value, name, **condition_kwargs)


@public("contrib.distributions.ConditionalTransformedDistribution")
class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution whose methods hand `bijector_kwargs` and `distribution_kwargs` on."""
