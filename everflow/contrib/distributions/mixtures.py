"""Mixtures of distributions."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.distributions.scales import mixture_stddev, pad_mixture_dimensions
from everflow.distributions.base import NOT_REPARAMETERIZED, Distribution
from everflow.distributions.categorical import Categorical
from everflow.distributions.making import noting
from everflow.distributions.tensors import gen_new_seed, pick_vector
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


@public("contrib.distributions.Mixture")
class Mixture(Distribution):
    """One of several distributions, chosen by `cat`."""

    @noting
    def __init__(
        self,
        cat: Any,
        components: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not isinstance(components, list | tuple):
            raise TypeError(f"components must be a list or tuple, but saw: {components}")
        if not all(isinstance(c, Distribution) for c in components):
            raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
        dtype = components[0].dtype
        if any(c.dtype != dtype for c in components):
            raise TypeError(f"All components must have the same dtype, but saw dtypes: {[(c.name, c.dtype) for c in components]}")
        event, batch = components[0].event_shape, cat.batch_shape
        for c in components:
            event, batch = event.merge_with(c.event_shape), batch.merge_with(c.batch_shape)
        if event.ndims is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the components provide a static number of ndims"
            )
        with name_scope(name, values=[cat.logits]) as name:
            count = constant_value(cat.event_size)
            if count is None:
                raise ValueError(
                    "Could not infer number of classes from cat and unable to compare this value to the number of components passed in."
                )
            if int(count) != len(components):
                raise ValueError(f"cat.num_classes != len(components): {int(count)} vs. {len(components)}")
            self._checks = []
            if validate_args:
                wanted = cat.batch_shape_tensor()
                shapes = [c.batch_shape_tensor() for c in components]
                messages = [f"components[{i}] batch shape must match cat batch shape" for i in range(len(components))]
                self._checks = [tf.assert_equal(tf.size(wanted), tf.size(s), message=m) for s, m in zip(shapes, messages)]
                self._checks += [tf.assert_equal(wanted, s, message=m) for s, m in zip(shapes, messages)]
        self._cat = cat
        self._components = list(components)
        self._static_event, self._static_batch = event, batch
        self._use_static_graph = use_static_graph
        parents = [*cat._graph_parents, *(p for c in components for p in c._graph_parents)]
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, None, parents, name)

    @property
    def cat(self) -> Any:
        """What chooses."""
        return self._cat

    @property
    def components(self) -> list[Any]:
        """What is chosen from."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many there are."""
        return len(self._components)

    def _batch_shape_tensor(self) -> Any:
        return self._cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._static_batch

    def _event_shape_tensor(self) -> Any:
        return self._components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._static_event

    def _weights(self, log: bool) -> list[Any]:
        softmax = tf.nn.log_softmax if log else tf.nn.softmax
        return tf.unstack(softmax(self.cat.logits), num=self.num_components, axis=-1)

    def _weights_of_events(self) -> list[Any]:
        found = self._weights(log=False)
        for _ in range(self.event_shape.ndims or 0):
            found = [tf.expand_dims(w, -1) for w in found]
        return found

    def _mean(self) -> Any:
        with tf.control_dependencies(self._checks):
            means = [c.mean() for c in self.components]
            return tf.add_n([w * m for w, m in zip(self._weights_of_events(), means)])

    def _stddev(self) -> Any:
        with tf.control_dependencies(self._checks):
            means = tf.stack([c.mean() for c in self.components], axis=-1)
            deviations = tf.stack([c.stddev() for c in self.components], axis=-1)
            weights = tf.stack(self._weights_of_events(), axis=-1) * tf.ones_like(means)
            rows = [tf.reshape(t, [-1, self.num_components]) for t in (weights, means, deviations)]
            return tf.reshape(mixture_stddev(*rows), tf.shape(weights)[:-1])

    def _log_mixed(self, what: str, x: Any) -> Any:
        with tf.control_dependencies(self._checks):
            x = convert_to_tensor(x, name="x")
            each = [getattr(c, what)(x) for c in self.components]
            return tf.reduce_logsumexp(tf.stack([w + e for w, e in zip(self._weights(log=True), each)]), axis=[0])

    def _log_prob(self, x: Any) -> Any:
        return self._log_mixed("log_prob", x)

    def _log_cdf(self, x: Any) -> Any:
        return self._log_mixed("log_cdf", x)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        if self._use_static_graph:
            return self._sample_all(n, seed)
        with tf.control_dependencies(self._checks):
            classes = self.cat.sample(n, seed=seed)
            size, count = tf.size(classes), tf.reduce_prod(self.batch_shape_tensor())
            places = tf.reshape(tf.range(size), tf.shape(classes))
            at = tf.dynamic_partition(places, classes, self.num_components)
            drawn = []
            for component, of_component in zip(self.components, at):
                seed = gen_new_seed(seed, "mixture")
                # As many samples of the whole batch as are needed, of each of which one element is taken.
                needed = tf.size(of_component)
                samples = component.sample(needed, seed=seed)
                flat = tf.reshape(samples, tf.concat([[needed * count], self.event_shape_tensor()], 0))
                drawn.append(tf.gather(flat, count * tf.range(needed) + tf.mod(of_component, count)))
            found = tf.reshape(tf.dynamic_stitch(at, drawn), tf.concat([tf.shape(classes), self.event_shape_tensor()], 0))
            found.set_shape(classes.shape.concatenate(self.event_shape))
            return found

    def _sample_all(self, n: Any, seed: Any) -> Any:
        """Draws of every component, of which one is kept: more work, but a graph without data-dependent shapes."""
        classes = self.cat.sample(n, seed=seed)
        drawn = []
        for component in self.components:
            seed = gen_new_seed(seed, "mixture")
            drawn.append(component.sample(n, seed=seed))
        ndims = self._static_event.ndims
        chosen = tf.one_hot(classes, self.num_components, dtype=self.dtype)
        chosen = pad_mixture_dimensions(chosen, self, self._cat, ndims)
        return tf.reduce_sum(tf.stack(drawn, axis=-ndims - 1) * chosen, axis=-1 - ndims)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """The mean of the entropies of the components, which the entropy is never below."""
        with self._name_scope(name, [self.cat.logits]), tf.control_dependencies(self._checks):
            return tf.add_n([w * c.entropy() for w, c in zip(self._weights(log=False), self.components)])


@public("contrib.distributions.MixtureSameFamily")
class MixtureSameFamily(Distribution):
    """One distribution of a batch (along its last axis), chosen by another distribution."""

    @noting
    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        mixture, components = mixture_distribution, components_distribution
        with name_scope(name) as name:
            self._mixture_distribution = mixture
            self._components_distribution = components
            event = components.event_shape_tensor()
            length = tf.dimension_value(event.shape[0])
            self._event_ndims: Any = tf.shape(event)[0] if length is None else length
            self._checks = self._agreement(mixture, components, validate_args)
            size = tf.dimension_value(mixture.logits.shape.with_rank_at_least(1)[-1])
            self._num_components = tf.shape(mixture.logits)[-1] if size is None else size
            super().__init__(
                components.dtype,
                NOT_REPARAMETERIZED,
                validate_args,
                allow_nan_stats,
                None,
                [*mixture._graph_parents, *components._graph_parents],
                name,
            )

    @staticmethod
    def _agreement(mixture: Any, components: Any, validate_args: bool) -> list[Any]:
        """Raises where the two can't go together; returns the checks that wait for the run."""
        checks = []
        if not mixture.dtype.is_integer:
            raise ValueError(f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers")
        message = "`mixture_distribution` must have scalar `event_dim`s"
        if mixture.event_shape.ndims is None:
            if validate_args:
                checks.append(tf.assert_equal(tf.size(mixture.event_shape_tensor()), 0, message=message))
        elif mixture.event_shape.ndims != 0:
            raise ValueError(message)
        batch, others = mixture.batch_shape, components.batch_shape.with_rank_at_least(1)[:-1]
        message = "`mixture_distribution.batch_shape`{} is not compatible with `components_distribution.batch_shape`{}"
        if batch.is_fully_defined() and others.is_fully_defined():
            if batch.ndims != 0 and batch != others:
                raise ValueError(message.format(f" (`{batch.as_list()}`)", f" (`{others.as_list()}`)"))
        elif validate_args:
            wanted = components.batch_shape_tensor()[:-1]
            found = pick_vector(mixture.is_scalar_batch(), wanted, mixture.batch_shape_tensor())
            checks.append(tf.assert_equal(found, wanted, message=message.format("", "")))
        sizes = [tf.dimension_value(s.with_rank_at_least(1)[-1]) for s in (mixture.logits.shape, components.batch_shape)]
        if None not in sizes:
            if sizes[0] != sizes[1]:
                raise ValueError(
                    f"`mixture_distribution components` ({sizes[0]}) does not equal `components_distribution.batch_shape[-1]` ({sizes[1]})"
                )
        elif validate_args:
            message = "`mixture_distribution components` does not equal `components_distribution.batch_shape[-1:]`"
            checks.append(tf.assert_equal(tf.shape(mixture.logits)[-1], components.batch_shape_tensor()[-1], message=message))
        return checks

    @property
    def mixture_distribution(self) -> Any:
        """What chooses."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Any:
        """The batch that is chosen from."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._checks):
            return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._checks):
            return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    def _probs(self) -> Any:
        """The weights, broadcasting with what the components draw."""
        return pad_mixture_dimensions(self.mixture_distribution.probs, self, self.mixture_distribution, self._event_ndims)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._checks):
            x = self.components_distribution.sample(n, seed=seed)
            classes = self.mixture_distribution.sample(n, seed=gen_new_seed(seed, "MixtureSameFamily"))
            chosen = tf.one_hot(classes, self._num_components, dtype=x.dtype)
            chosen = pad_mixture_dimensions(chosen, self, self.mixture_distribution, self._event_ndims)
            found = tf.reduce_sum(x * chosen, axis=-1 - self._event_ndims)
            if x.shape.ndims is not None and self.event_shape.ndims is not None:
                found.set_shape(x.shape[: x.shape.ndims - self.event_shape.ndims - 1].concatenate(self.event_shape))
            return found

    def _log_mixed(self, what: str, x: Any) -> Any:
        each = getattr(self.components_distribution, what)(self._with_axis_of_components(x))
        return tf.reduce_logsumexp(each + tf.nn.log_softmax(self.mixture_distribution.logits, axis=-1), axis=-1)

    def _log_prob(self, x: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return self._log_mixed("log_prob", x)

    def _log_cdf(self, x: Any) -> Any:
        return self._log_mixed("log_cdf", x)

    def _mean(self) -> Any:
        with tf.control_dependencies(self._checks):
            return tf.reduce_sum(self._probs() * self.components_distribution.mean(), axis=-1 - self._event_ndims)

    def _variance(self) -> Any:
        with tf.control_dependencies(self._checks):
            # The mean of the variances, and the variance of the means.
            apart = tf.squared_difference(self.components_distribution.mean(), self._with_axis_of_components(self._mean()))
            return tf.reduce_sum(self._probs() * (self.components_distribution.variance() + apart), axis=-1 - self._event_ndims)

    def _covariance(self) -> Any:
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        with tf.control_dependencies(self._checks):
            apart = self.components_distribution.mean() - self._with_axis_of_components(self._mean())
            products = apart[..., tf.newaxis, :] * apart[..., tf.newaxis]
            each = self.components_distribution.covariance() + products
            return tf.reduce_sum(self._probs()[..., tf.newaxis] * each, axis=-3)

    def _with_axis_of_components(self, x: Any) -> Any:
        with name_scope("pad_sample_dims", values=[x]):
            rank: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
            at = rank - self._event_ndims
            shape = tf.shape(x)
            return tf.reshape(x, tf.concat([shape[:at], [1], shape[at:]], 0))
