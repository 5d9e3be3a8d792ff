"""The optimizers of the first Keras, and tf.train's optimizers in their place: `get_updates` makes the ops of a step."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.stacks import get_default_graph
from everflow.keras.backend.session import batch_get_value, batch_set_value, get_value, track_variable
from everflow.keras.backend.values import int_shape, variable
from everflow.keras.config import epsilon as default_epsilon
from everflow.train.tracking.autotracking import AutoTrackable


def _zeros(param: Any) -> Any:
    made = tf.Variable(tf.zeros(int_shape(param), param.dtype.base_dtype), trainable=False, use_resource=True)
    track_variable(made)
    return made


@public("contrib.keras.api.keras.optimizers.Optimizer")
@internal("keras.optimizers.Optimizer")
class Optimizer:
    """Base of the first Keras optimizers."""

    lr: Any
    decay: Any
    iterations: Any
    initial_decay: float

    def __init__(self, **kwargs: Any) -> None:
        for name, value in kwargs.items():
            if name not in ("clipnorm", "clipvalue"):
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {name}")
            if value < 0:
                raise ValueError(f"Expected {name} >= 0, received: {value}")
        self.__dict__.update(kwargs)
        self.updates: list[Any] = []
        self.weights: Any = []

    def _numbers(self, **values: Any) -> None:
        """Makes the counter and the hyperparameters variables."""
        with tf.name_scope(type(self).__name__):
            self.iterations = variable(0, dtype="int64", name="iterations")
            for name, value in values.items():
                setattr(self, name, variable(value, name=name))

    def _rate(self) -> Any:
        if self.initial_decay <= 0:
            return self.lr
        return self.lr * (1.0 / (1.0 + self.decay * tf.cast(self.iterations, self.decay.dtype.base_dtype)))

    def _changed(self, param: Any, value: Any) -> None:
        constraint = getattr(param, "constraint", None)
        self.updates.append(tf.assign(param, value if constraint is None else constraint(value)))

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The ops of one step."""
        raise NotImplementedError

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients, clipped where the optimizer clips."""
        gradients = [g if g is None else tf.convert_to_tensor(g) for g in tf.gradients(loss, params)]
        if None in [g if g is None else 0 for g in gradients]:
            raise ValueError(
                "An operation has `None` for gradient. Please make sure that all of your ops have a gradient defined (i.e. are "
                "differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
            )
        if hasattr(self, "clipnorm"):
            gradients = [tf.clip_by_norm(g, self.clipnorm) for g in gradients]
        if hasattr(self, "clipvalue"):
            gradients = [tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in gradients]
        return gradients

    def set_weights(self, weights: Any) -> None:
        """Sets the optimizer's variables."""
        params = self.weights
        if len(params) != len(weights):
            raise ValueError(
                f"Length of the specified weight list ({len(weights)}) does not match the number of weights of the optimizer "
                f"({len(params)})"
            )
        for old, w in zip(batch_get_value(params), weights):
            if old.shape != w.shape:
                raise ValueError(f"Optimizer weight shape {old.shape} not compatible with provided weight shape {w.shape}")
        batch_set_value(list(zip(params, weights)))

    def get_weights(self) -> list[Any]:
        """The values of the optimizer's variables."""
        return batch_get_value(self.weights)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an optimizer like this one."""
        return {name: getattr(self, name) for name in ("clipnorm", "clipvalue") if hasattr(self, name)}

    def _config(self, *names: str) -> dict[str, Any]:
        return {**{n: float(get_value(getattr(self, n))) for n in names}, **Optimizer.get_config(self)}

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """An optimizer with these arguments."""
        return cls(**config)


@public("contrib.keras.api.keras.optimizers.SGD")
@internal("keras.optimizers.SGD")
class SGD(Optimizer):
    """Steps against the gradient, with momentum."""

    momentum: Any

    def __init__(self, lr: float = 0.01, momentum: float = 0.0, decay: float = 0.0, nesterov: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._numbers(lr=lr, momentum=momentum, decay=decay)
        self.initial_decay, self.nesterov = decay, nesterov

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()
        moments = [_zeros(p) for p in params]
        self.weights = [self.iterations, *moments]
        for p, g, m in zip(params, gradients, moments):
            step = self.momentum * m - rate * g
            self.updates.append(tf.assign(m, step))
            self._changed(p, p + self.momentum * step - rate * g if self.nesterov else p + step)
        return self.updates

    def get_config(self) -> dict[str, Any]:
        return {**self._config("lr", "momentum", "decay"), "nesterov": self.nesterov}


@public("contrib.keras.api.keras.optimizers.RMSprop")
@internal("keras.optimizers.RMSprop")
class RMSprop(Optimizer):
    """Divides each step by the root of a running mean of squared gradients."""

    rho: Any

    def __init__(self, lr: float = 0.001, rho: float = 0.9, epsilon: Any = None, decay: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._numbers(lr=lr, rho=rho, decay=decay)
        self.epsilon, self.initial_decay = default_epsilon() if epsilon is None else epsilon, decay

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        accumulators = [_zeros(p) for p in params]
        self.weights = accumulators
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()
        for p, g, a in zip(params, gradients, accumulators):
            mean = self.rho * a + (1.0 - self.rho) * tf.square(g)
            self.updates.append(tf.assign(a, mean))
            self._changed(p, p - rate * g / (tf.sqrt(mean) + self.epsilon))
        return self.updates

    def get_config(self) -> dict[str, Any]:
        return {**self._config("lr", "rho", "decay"), "epsilon": self.epsilon}


@public("contrib.keras.api.keras.optimizers.Adagrad")
@internal("keras.optimizers.Adagrad")
class Adagrad(Optimizer):
    """Divides each step by the root of the sum of all squared gradients."""

    def __init__(self, lr: float = 0.01, epsilon: Any = None, decay: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._numbers(lr=lr, decay=decay)
        self.epsilon, self.initial_decay = default_epsilon() if epsilon is None else epsilon, decay

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        accumulators = [_zeros(p) for p in params]
        self.weights = accumulators
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()
        for p, g, a in zip(params, gradients, accumulators):
            total = a + tf.square(g)
            self.updates.append(tf.assign(a, total))
            self._changed(p, p - rate * g / (tf.sqrt(total) + self.epsilon))
        return self.updates

    def get_config(self) -> dict[str, Any]:
        return {**self._config("lr", "decay"), "epsilon": self.epsilon}


@public("contrib.keras.api.keras.optimizers.Adadelta")
@internal("keras.optimizers.Adadelta")
class Adadelta(Optimizer):
    """Steps of the size of the steps so far."""

    def __init__(self, lr: float = 1.0, rho: float = 0.95, epsilon: Any = None, decay: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._numbers(lr=lr, decay=decay)
        self.rho, self.epsilon, self.initial_decay = rho, default_epsilon() if epsilon is None else epsilon, decay

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        squares, steps = [_zeros(p) for p in params], [_zeros(p) for p in params]
        self.weights = squares + steps
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()
        for p, g, a, d in zip(params, gradients, squares, steps):
            mean = self.rho * a + (1.0 - self.rho) * tf.square(g)
            self.updates.append(tf.assign(a, mean))
            step = g * tf.sqrt(d + self.epsilon) / tf.sqrt(mean + self.epsilon)
            self._changed(p, p - rate * step)
            self.updates.append(tf.assign(d, self.rho * d + (1 - self.rho) * tf.square(step)))
        return self.updates

    def get_config(self) -> dict[str, Any]:
        return {**self._config("lr", "decay"), "rho": self.rho, "epsilon": self.epsilon}


class _Moments(Optimizer):
    beta_1: Any
    beta_2: Any

    def __init__(self, lr: float, beta_1: float, beta_2: float, epsilon: Any, decay: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._numbers(lr=lr, beta_1=beta_1, beta_2=beta_2, decay=decay)
        self.epsilon, self.initial_decay = default_epsilon() if epsilon is None else epsilon, decay

    def get_config(self) -> dict[str, Any]:
        return {**self._config("lr", "beta_1", "beta_2", "decay"), "epsilon": self.epsilon}


@public("contrib.keras.api.keras.optimizers.Adam")
@internal("keras.optimizers.Adam")
class Adam(_Moments):
    """Running means of the gradient and of its square."""

    def __init__(
        self,
        lr: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: Any = None,
        decay: float = 0.0,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, beta_1, beta_2, epsilon, decay, **kwargs)
        self.amsgrad = amsgrad

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        rate = self._rate()
        with tf.control_dependencies([tf.assign_add(self.iterations, 1)]):
            t = tf.cast(self.iterations.read_value(), "float32")
        rate = rate * (tf.sqrt(1.0 - tf.pow(self.beta_2, t)) / (1.0 - tf.pow(self.beta_1, t)))
        ms, vs = [_zeros(p) for p in params], [_zeros(p) for p in params]
        hats = [_zeros(p) if self.amsgrad else variable(np.zeros(1)) for p in params]
        self.weights = [self.iterations, *ms, *vs, *hats]
        self.updates = []
        for p, g, m, v, hat in zip(params, gradients, ms, vs, hats):
            mean = self.beta_1 * m + (1.0 - self.beta_1) * g
            square = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(g)
            self.updates += [tf.assign(m, mean), tf.assign(v, square)]
            if self.amsgrad:
                square = tf.maximum(hat, square)
                self.updates.append(tf.assign(hat, square))
            self._changed(p, p - rate * mean / (tf.sqrt(square) + self.epsilon))
        return self.updates

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "amsgrad": self.amsgrad}


@public("contrib.keras.api.keras.optimizers.Adamax")
@internal("keras.optimizers.Adamax")
class Adamax(_Moments):
    """Adam with the largest gradient in place of the mean of squares."""

    def __init__(
        self, lr: float = 0.002, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: Any = None, decay: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(lr, beta_1, beta_2, epsilon, decay, **kwargs)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        rate = self._rate()
        with tf.control_dependencies([tf.assign_add(self.iterations, 1)]):
            t = tf.cast(self.iterations.read_value(), "float32")
        rate = rate / (1.0 - tf.pow(self.beta_1, t))
        ms, us = [_zeros(p) for p in params], [_zeros(p) for p in params]
        self.weights = [self.iterations, *ms, *us]
        self.updates = []
        for p, g, m, u in zip(params, gradients, ms, us):
            mean, largest = self.beta_1 * m + (1.0 - self.beta_1) * g, tf.maximum(self.beta_2 * u, tf.abs(g))
            self.updates += [tf.assign(m, mean), tf.assign(u, largest)]
            self._changed(p, p - rate * mean / (largest + self.epsilon))
        return self.updates


@public("contrib.keras.api.keras.optimizers.Nadam")
@internal("keras.optimizers.Nadam")
class Nadam(Optimizer):
    """Adam with Nesterov's look ahead."""

    beta_1: Any
    beta_2: Any
    m_schedule: Any

    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: Any = None,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._numbers(m_schedule=1.0, lr=lr, beta_1=beta_1, beta_2=beta_2)
        self.epsilon, self.schedule_decay = default_epsilon() if epsilon is None else epsilon, schedule_decay

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        gradients = self.get_gradients(loss, params)
        with tf.control_dependencies([tf.assign_add(self.iterations, 1)]):
            t = tf.cast(self.iterations.read_value(), "float32")
        momentum = lambda step: self.beta_1 * (1.0 - 0.5 * tf.pow(0.96, step * self.schedule_decay))
        now, following = momentum(t), momentum(t + 1)
        product = self.m_schedule * now
        ms, vs = [_zeros(p) for p in params], [_zeros(p) for p in params]
        self.weights = [self.iterations, self.m_schedule, *ms, *vs]
        self.updates = [tf.assign(self.m_schedule, product)]
        for p, g, m, v in zip(params, gradients, ms, vs):
            mean = self.beta_1 * m + (1.0 - self.beta_1) * g
            square = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(g)
            ahead = (1.0 - now) * g / (1.0 - product) + following * mean / (1.0 - product * following)
            self.updates += [tf.assign(m, mean), tf.assign(v, square)]
            self._changed(p, p - self.lr * ahead / (tf.sqrt(square / (1.0 - tf.pow(self.beta_2, t))) + self.epsilon))
        return self.updates

    def get_config(self) -> dict[str, Any]:
        return {**self._config("lr", "beta_1", "beta_2"), "epsilon": self.epsilon, "schedule_decay": self.schedule_decay}


for _name, _cls in (
    ("sgd", SGD),
    ("rmsprop", RMSprop),
    ("adagrad", Adagrad),
    ("adadelta", Adadelta),
    ("adam", Adam),
    ("adamax", Adamax),
    ("nadam", Nadam),
):
    internal("keras.optimizers." + _name)(_cls)


@internal("keras.optimizers.TFOptimizer")
class TFOptimizer(Optimizer, AutoTrackable):
    """An optimizer of tf.train where Keras wants one of its own."""

    def __init__(self, optimizer: Any, iterations: Any = None) -> None:
        self.optimizer = optimizer
        if iterations is None:
            with tf.name_scope(type(self).__name__):
                iterations = variable(0, dtype="int64", name="iterations")
        self.iterations = iterations
        self._track_trackable(iterations, name="global_step")

    def apply_gradients(self, grads: Any) -> Any:
        """Changes the variables and counts the step."""
        return self.optimizer.apply_gradients(grads, global_step=self.iterations)

    def get_grads(self, loss: Any, params: Any) -> Any:
        """Pairs of gradient and variable."""
        return self.optimizer.compute_gradients(loss, params)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        pairs = self.optimizer.compute_gradients(loss, params)
        self.updates = [self.optimizer.apply_gradients(pairs, global_step=self.iterations)]
        return self.updates

    @property
    def weights(self) -> Any:  # type: ignore[override]
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: Any) -> Any:
        raise NotImplementedError


@internal("keras.backend.track_tf_optimizer")
def track_tf_optimizer(tf_optimizer: Any) -> None:
    """Has the variables of a wrapped optimizer initialized with Keras's own."""
    if not tf.executing_eagerly():
        graph: Any = get_default_graph()
        graph._tracked_keras_optimizers = [*getattr(graph, "_tracked_keras_optimizers", []), tf_optimizer.optimizer]
