"""Training of several replicas in step: their gradients are averaged before they are applied."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.train.optimizer import Optimizer
from everflow.train.session_manager import uninitialized
from everflow.train.session_run_hook import SessionRunHook


@public("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """Collects the gradients of `replicas_to_aggregate` steps of replicas, and applies their mean by another optimizer.

    A replica gives its gradients and waits for a token, which says that a step has been made; gradients of steps before are dropped. One
    replica, the chief, makes the steps in a thread of its own: `make_session_run_hook(is_chief)` starts it.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        tf.logging.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, self._total_num_replicas)
        self._gradients_applied = False
        self._global_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients of the other optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The op of a replica's step: gives its gradients, and waits until they have been applied with those of others."""
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        step_type = global_step.dtype.base_dtype
        with tf.colocate_with(tf.no_op()):
            self._local_step = tf.Variable(
                0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], dtype=step_type, name="sync_rep_local_step"
            )
        self.local_step_init_op = tf.assign(self._local_step, global_step)
        self.ready_for_local_init_op = tf.report_uninitialized_variables(tf.global_variables())
        given, means, accumulators = [], [], []
        with name_scope(None, self._name):
            for gradient, variable in grads_and_vars:
                if gradient is None:
                    means.append((None, variable))
                    continue
                with tf.device(variable.device):
                    accumulator, gift, mean = self._collected(gradient, variable)
                given.append(gift)
                means.append((mean, variable))
                accumulators.append((accumulator, variable.device))
            with tf.device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
                self._sync_token_queue = tf.FIFOQueue(-1, step_type, shapes=(), name="sync_token_q", shared_name="sync_token_q")
                nothing = tf.FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")
                with tf.control_dependencies(given):
                    token = self._sync_token_queue.dequeue()
                train_op = tf.assign(self._local_step, token)
                with tf.control_dependencies([update]):
                    tokens = tf.fill([max(self._total_num_replicas, self._replicas_to_aggregate)], global_step)
                    done = self._sync_token_queue.enqueue_many((tokens,))
                if self._variable_averages is not None:
                    with tf.control_dependencies([done]):
                        done = self._variable_averages.apply(self._variables_to_average)
                self._chief_queue_runner = tf.train.QueueRunner(nothing, [done])
            starts = [self.local_step_init_op]
            for accumulator, device in accumulators:
                with tf.device(device):
                    starts.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = tf.group(*starts)
        self._gradients_applied = True
        return train_op

    def _collected(self, gradient: Any, variable: Any) -> tuple[Any, Any, Any]:
        """What collects the gradients of a variable, the op that gives one, and the mean of enough of them."""
        shared = variable.name + "/grad_accum"
        count = self._replicas_to_aggregate
        if isinstance(gradient, Tensor):
            dense = tf.ConditionalAccumulator(gradient.dtype, shape=variable.get_shape(), shared_name=shared)
            return dense, dense.apply_grad(gradient, local_step=self._local_step), dense.take_grad(count)
        if not isinstance(gradient, IndexedSlices):
            raise ValueError("Unknown grad type!")
        sparse = tf.SparseConditionalAccumulator(gradient.dtype, shape=(), shared_name=shared)
        gift = sparse.apply_indexed_slices_grad(gradient, local_step=self._local_step)
        return sparse, gift, sparse.take_indexed_slices_grad(count)

    def get_chief_queue_runner(self) -> Any:
        """What makes the steps, to be started by the chief."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the other optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The other optimizer's variables."""
        return self._opt.variables()

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """Puts tokens in the queue before the first step: as many as gradients are needed, if not said otherwise."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        # A replica that gives more than one gradient to a step needs a token for each further one.
        least = self._replicas_to_aggregate - self._total_num_replicas
        count = self._replicas_to_aggregate if num_tokens == -1 else num_tokens
        if count < least:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {least} (needed)")
        step = self._global_step
        if count <= 0:
            return tf.no_op(name="no_init_tokens")
        with tf.device(step.device), name_scope(""):
            return self._sync_token_queue.enqueue_many((tf.fill([count], step),))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """A hook that prepares a replica's session, and starts the thread of steps in the chief's."""
        return SyncReplicasOptimizerHook(self, is_chief, num_tokens)


@internal("training.sync_replicas_optimizer._SyncReplicasOptimizerHook")
class SyncReplicasOptimizerHook(SessionRunHook):
    """Prepares sessions for a SyncReplicasOptimizer."""

    def __init__(self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        """Makes the ops that are needed."""
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._local_init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._q_runner = optimizer.get_chief_queue_runner() if self._is_chief else None
        self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Sets the local step, and has the chief start."""
        self._expect_model(session)
        for start in (self._local_init_op, self._init_tokens_op):
            if start is not None:
                session.run(start)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord, daemon=True, start=True)

    def _expect_model(self, session: Any) -> None:
        """Raises RuntimeError where variables have no values yet."""
        missing = uninitialized(self._sync_optimizer.ready_for_local_init_op, session, "ready for SyncReplicasOptimizer local init")
        if missing:
            which = f"Init op: {self._local_init_op.name}, error: {missing}"
            raise RuntimeError(f"Init operations did not make model ready for SyncReplicasOptimizer local_init. {which}")
