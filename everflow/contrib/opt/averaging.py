"""Workers that train variables of their own and meet now and then: ElasticAverage, AGN and ModelAverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import colocate_with, control_dependencies, device, name_scope
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.train.optimizer import Optimizer
from everflow.train.session_run_hook import SessionRunHook

GLOBAL = "global_center_variable"
LOCAL = "local_center_variable"
ACCUMULATED = "grad_variable"

for _module in ("agn", "elastic_average", "model_average"):
    public(f"contrib.opt.python.training.{_module}_optimizer.GLOBAL_VARIABLE_NAME")(GLOBAL)
public("contrib.opt.python.training.elastic_average_optimizer.LOCAL_VARIABLE_NAME")(LOCAL)
public("contrib.opt.python.training.elastic_average_optimizer.GLOBAL_STEP")("global_step")
public("contrib.opt.python.training.agn_optimizer.GRAD_VARIABLE_NAME")(ACCUMULATED)


class _Twins:
    """{variable: its twin}, whatever variables are equal to."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []

    def __setitem__(self, variable: Any, twin: Any) -> None:
        self._pairs.append((variable, twin))

    def __getitem__(self, variable: Any) -> Any:
        for known, twin in self._pairs:
            if known is variable:
                return twin
        raise KeyError(variable)

    def items(self) -> list[tuple[Any, Any]]:
        return list(self._pairs)

    def __contains__(self, variable: Any) -> bool:
        return any(known is variable for known, _ in self._pairs)


class _Getter:
    """A custom getter: what is trained lives on the worker, and a variable that all share on a parameter server."""

    def __init__(self, worker_device: Any) -> None:
        self._worker_device = worker_device
        self._twins = _Twins()
        self._others = _Twins()

    # What each worker has besides, and what that starts with.
    _other: str = ""
    _other_is_zero = False

    def __call__(self, getter: Any, name: str, trainable: Any, collections: Any, *args: Any, **kwargs: Any) -> Any:
        if not trainable:
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        with device(self._worker_device):
            own = getter(name, *args, trainable=True, collections=[tf.GraphKeys.LOCAL_VARIABLES], **kwargs)
        given = {**kwargs, "reuse": kwargs.get("reuse")}
        shared = getter(f"{GLOBAL}/{name}", *args, trainable=False, collections=[tf.GraphKeys.GLOBAL_VARIABLES], **given)
        self._note(self._twins, own, shared)
        if self._other:
            if self._other_is_zero and given.get("shape") is not None:
                given["initializer"] = tf.zeros_initializer()
            with device(self._worker_device):
                other = getter(f"{self._other}/{name}", *args, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], **given)
            self._note(self._others, own, other)
        return own

    def _note(self, twins: _Twins, own: Any, twin: Any) -> None:
        if isinstance(own, PartitionedVariable):
            for one, other in zip(own, twin):
                twins[one] = other
        else:
            twins[own] = twin


@public("contrib.opt.ElasticAverageCustomGetter")
class ElasticAverageCustomGetter(_Getter):
    """Makes each trainable variable thrice: the worker's own, the centre that all share, and the centre as the worker knows it."""

    _other = LOCAL
    _global_map = property(lambda self: self._twins)
    _local_map = property(lambda self: self._others)


@public("contrib.opt.AGNCustomGetter")
class AGNCustomGetter(_Getter):
    """Makes each trainable variable thrice: the worker's own, the one that all share, and the gradients since they met."""

    _other = ACCUMULATED
    _other_is_zero = True
    _global_map = property(lambda self: self._twins)
    _grad_map = property(lambda self: self._others)


@public("contrib.opt.ModelAverageCustomGetter")
class ModelAverageCustomGetter(_Getter):
    """Makes each trainable variable twice: the worker's own, and the average."""

    _local_2_global = property(lambda self: self._twins)


class _Meeting(Optimizer):
    """What the optimizers share: a worker's count of its steps, and what it does at each step and when workers meet."""

    _getter: Any

    def __init__(self, opt: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._local_step: Any = None

    def _count_steps(self, worker_device: Any) -> None:
        with device(worker_device):
            self._local_step = tf.get_variable(
                "local_step", initializer=0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], dtype=tf.int32
            )

    def _met(self, pairs: list[Any], period: int, update: Any, meet: Any) -> Any:
        """The update of a step, and in each of `period` steps what happens when workers meet."""
        with control_dependencies([update]), colocate_with(self._local_step):
            counted = tf.assign_add(self._local_step, 1)
        with control_dependencies([counted]):
            return tf.cond(tf.equal(tf.mod(counted, period), 0), lambda: tf.group(meet()), tf.no_op)

    def _from_centre(self) -> Any:
        return tf.group(*(tf.assign(own, shared) for own, shared in self._getter._twins.items()))


class _StartHook(SessionRunHook):
    """Gives workers what the parameter servers have when a session begins."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._start: Any = None

    def begin(self) -> None:
        tf.train.get_or_create_global_step()
        self._start = self._make()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._start)


def _checked(grads_and_vars: Any, global_step: Any) -> list[Any]:
    pairs = list(grads_and_vars)
    if not pairs:
        raise ValueError("Must supply at least one variable")
    if global_step is None:
        raise ValueError("Global step is required")
    return pairs


@public("contrib.opt.ElasticAverageOptimizer")
class ElasticAverageOptimizer(_Meeting):
    """Elastic averaging SGD (Zhang and others, 2015): every `communication_period` steps a worker and the centre draw near each other.

    `moving_rate` says how much of their distance, `rho` how much a worker is held back by the centre meanwhile.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: Any,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._num_worker, self._period, self._getter = num_worker, communication_period, ea_custom_getter
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / self._opt._learning_rate if rho is None else rho
        self._synchronous = synchronous
        self._count_steps(ea_custom_getter._worker_device)
        self._opt._prepare()

    def compute_gradients(  # type: ignore[override]
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """Those of the loss and of the distance from the centre."""
        variables = tf.trainable_variables() if not var_list else list(var_list)
        apart = [tf.nn.l2_loss(var - self._getter._others[var]) for var in variables if var in self._getter._others]
        total = loss + self._rho * tf.add_n(apart) if apart else loss
        return self._opt.compute_gradients(total, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Changes the worker's variables; every so many steps the centre too, which is when the global step counts."""
        pairs = list(grads_and_vars)
        with name_scope(name, self._name):
            update = self._opt.apply_gradients(pairs)
            return self._met(pairs, self._period, update, lambda: self._meet(pairs, global_step))

    def _meet(self, pairs: list[Any], global_step: Any) -> Any:
        ready = [self._barrier("before")] if self._synchronous else []
        with control_dependencies(ready):
            triples = [(var, self._getter._twins[var], self._getter._others[var]) for _, var in pairs]
            centres = [_read(shared) for _, shared, _ in triples]
            differences = [_read(var) - centre for (var, _, _), centre in zip(triples, centres)]
        with control_dependencies([*centres, *differences]):
            steps = [self._moving_rate * difference for difference in differences]
            known = [tf.assign(other, centre) for (_, _, other), centre in zip(triples, centres)]
            wait = [self._barrier("between")] if self._synchronous else []
        with control_dependencies([*wait, *known, *steps]):
            changes = [tf.assign_sub(var, step) for (var, _, _), step in zip(triples, steps)]
            changes += [tf.assign_add(shared, step, use_locking=self._use_locking) for (_, shared, _), step in zip(triples, steps)]
        if global_step is not None:
            with control_dependencies(changes), colocate_with(global_step):
                changes.append(tf.assign_add(global_step, 1))
        return tf.group(*changes)

    def _barrier(self, where: str) -> Any:
        """Is through when all workers are there: each puts a token for every other one, and takes as many of its own."""
        task = tf.DeviceSpec.from_string(str(self._getter._worker_device)).task or 0
        queues = [
            tf.FIFOQueue(self._num_worker, [tf.bool], shapes=[[]], shared_name=f"{self._name}_{where}_{worker}", name=f"{where}_{worker}")
            for worker in range(self._num_worker)
        ]
        with control_dependencies([queue.enqueue(False) for k, queue in enumerate(queues) if k != task]):
            return queues[task].dequeue_many(self._num_worker - 1) if self._num_worker > 1 else tf.no_op()

    def get_init_op(self, task_index: int) -> Any:
        """What a worker starts with: its variables, and the centre as it knows it, become the centre."""
        twins = self._getter._twins.items()
        return tf.group(
            *(tf.assign(own, shared) for own, shared in twins), *(tf.assign(self._getter._others[own], shared) for own, shared in twins)
        )

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """A hook that starts workers from the centre."""
        return _StartHook(lambda: self.get_init_op(task_index))

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A saver that writes the centre under the names of the variables."""
        wanted = tf.global_variables() if var_list is None else list(var_list)
        saved: dict[str, Any] = {}
        shared_ones = [shared for _, shared in self._getter._twins.items()]
        for var in wanted:
            if not any(var is shared for shared in shared_ones) and var not in self._getter._twins:
                saved[var.op.name] = var
        for own, shared in self._getter._twins.items():
            if any(var is shared or var is own for var in wanted):
                part = own._get_save_slice_info()
                if part is None:
                    saved[own.op.name] = shared
                else:
                    saved.setdefault(part.full_name, []).append(shared)
        saved.pop("global_step", None)
        return tf.train.Saver(saved, name=name, **kwargs)


def _read(variable: Any) -> Any:
    return variable.read_value() if hasattr(variable, "read_value") else tf.identity(variable)


class _InLocals:
    """Has slots that are made meanwhile be local variables."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._before = list(self._graph.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES))

    def __exit__(self, *_: Any) -> None:
        everything = self._graph.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES)
        made = [var for var in everything if not any(var is old for old in self._before)]
        everything[:] = self._before
        self._graph.get_collection_ref(tf.GraphKeys.LOCAL_VARIABLES).extend(made)


@public("contrib.opt.AGNOptimizer")
class AGNOptimizer(_Meeting):
    """Accumulated gradient normalization (Hermans and others, 2017): the mean of a worker's last gradients changes what all share."""

    def __init__(
        self,
        optimizer: Any,
        num_worker: int,
        custom_getter: Any,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, use_locking, name)
        self._num_worker, self._period, self._getter = num_worker, communication_period, custom_getter
        self._count_steps(custom_getter._worker_device)
        self._opt._prepare()

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Changes the worker's variables; every so many steps those that all share, of which the worker then goes on."""
        pairs = list(grads_and_vars)
        shared = [(self._getter._others[var], self._getter._twins[var]) for _, var in pairs]
        with name_scope(name, self._name):
            with _InLocals(tf.get_default_graph()):
                update = self._opt.apply_gradients(pairs)
            # Slots can't be made within one branch.
            self._opt._create_slots([var for _, var in shared])
            summed = [tf.assign_add(self._getter._others[var], tf.convert_to_tensor(grad)) for grad, var in pairs if grad is not None]

            def meet() -> Any:
                means = [(_read(total) / self._period, var) for total, var in shared]
                with control_dependencies([mean for mean, _ in means]):
                    step = self._opt.apply_gradients(means, global_step)
                with control_dependencies([step]):
                    pulled = [tf.assign(own, _read(self._getter._twins[own])) for _, own in pairs]
                    cleared = [tf.assign(total, tf.zeros_like(total)) for total, _ in shared]
                return tf.group(*pulled, *cleared)

            return self._met(pairs, self._period, tf.group(update, *summed), meet)

    def get_init_op(self, task_index: int) -> Any:
        """What a worker starts with: its variables become those that all share."""
        cleared = [tf.assign(total, tf.zeros_like(total)) for _, total in self._getter._others.items()]
        return tf.group(self._from_centre(), *cleared)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """A hook that starts workers from what all share."""
        return _StartHook(lambda: self.get_init_op(task_index))


@public("contrib.opt.ModelAverageOptimizer")
class ModelAverageOptimizer(_Meeting):
    """Every `interval_steps` steps all workers wait for each other, and go on from the average of their variables."""

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: Any,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._num_worker, self._is_chief, self._getter, self._interval_steps = num_worker, is_chief, ma_custom_getter, interval_steps
        self._count_steps(ma_custom_getter._worker_device)
        self._opt._prepare()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Changes the worker's variables, and takes the average of all every so many steps."""
        pairs = _checked(grads_and_vars, global_step)
        variables = [var for _, var in pairs]
        with name_scope(name, self._name):
            with _InLocals(tf.get_default_graph()):
                update = self._opt.apply_gradients(pairs)
            with colocate_with(global_step):
                tokens = tf.FIFOQueue(self._num_worker, [tf.bool], shapes=[[]], shared_name="sync_queue")
            heaps = []
            for var in variables:
                shared = self._getter._twins[var]
                with device(shared.device):
                    heaps.append(tf.ConditionalAccumulator(shared.dtype.base_dtype, shared.shape, shared_name=f"{shared.name}/var_accum"))

            def meet() -> Any:
                values = [_read(var) for var in variables]
                pushed = [heap.apply_grad(value, local_step=tf.cast(global_step, tf.int64)) for heap, value in zip(heaps, values)]
                with control_dependencies(pushed):
                    met = self._average(variables, heaps, tokens, global_step) if self._is_chief else tf.group(tokens.dequeue())
                with control_dependencies([met]):
                    return tf.group(*(tf.assign(var, _read(self._getter._twins[var])) for var in variables))

            return self._met(pairs, self._interval_steps, update, meet)

    def _average(self, variables: list[Any], heaps: list[Any], tokens: Any, global_step: Any) -> Any:
        changes = [tf.assign(self._getter._twins[var], heap.take_grad(self._num_worker)) for var, heap in zip(variables, heaps)]
        with control_dependencies(changes), colocate_with(global_step):
            counted = tf.assign_add(global_step, 1)
        with control_dependencies([counted]):
            settled = [heap.set_global_step(tf.cast(counted, tf.int64)) for heap in heaps]
        with control_dependencies([*settled, counted]):
            if self._num_worker < 2:
                return tf.no_op()
            return tokens.enqueue_many(tf.fill([self._num_worker - 1], False))

    def get_init_op(self) -> Any:
        """What a worker starts with: its variables become the average."""
        return self._from_centre()

    def make_session_run_hook(self) -> Any:
        """A hook that starts workers from the average."""
        return _StartHook(self.get_init_op)
