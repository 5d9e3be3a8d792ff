"""Weighted alternating least squares: factors of a sparse matrix, rows and columns in turn."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.core.registry import apply
from everflow.ops.variables.variables import Variable


def _shard_sizes(dims: int, num_shards: int) -> list[int]:
    size, more = divmod(dims, num_shards)
    return [size + 1] * more + [size] * (num_shards - more)


def _sharded(name: str, sizes: list[int], initial: Callable[[int, int], Any]) -> list[Any]:
    return [
        tf.Variable(lambda i=i, size=size: initial(i, size), dtype=tf.float32, name=f"{name}_shard_{i}") for i, size in enumerate(sizes)
    ]


@public("contrib.factorization.WALSModel")
class WALSModel:
    """The graph that finds factors U and V of a matrix A, given by some of its entries.

    Minimizes the squares of A - UVᵀ, weighed w0 + row weight · column weight where A has an entry and w0 elsewhere, plus those of U and V.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ) -> None:
        self._input_rows, self._input_cols = input_rows, input_cols
        self._num_row_shards, self._num_col_shards = num_row_shards, num_col_shards
        self._n_components = n_components
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._regularization_matrix = None if regularization is None else regularization * tf.eye(n_components)
        assert (row_weights is None) == (col_weights is None)
        self._use_factors_weights_cache, self._use_gramian_cache = use_factors_weights_cache, use_gramian_cache

        def scoped(name: str, make: Callable[[], Any]) -> Any:
            if not use_scoped_vars:
                return make()
            with name_scope(name):
                return make()

        self._row_weights = scoped("row_weights", lambda: self._create_weights(row_weights, input_rows, num_row_shards, "row_weights"))
        self._col_weights = scoped("col_weights", lambda: self._create_weights(col_weights, input_cols, num_col_shards, "col_weights"))
        self._row_factors = scoped(
            "row_factors", lambda: self._create_factors(input_rows, n_components, num_row_shards, row_init, "row_factors")
        )
        self._col_factors = scoped(
            "col_factors", lambda: self._create_factors(input_cols, n_components, num_col_shards, col_init, "col_factors")
        )
        self._row_gramian = self._create_gramian(n_components, "row_gramian")
        self._col_gramian = self._create_gramian(n_components, "col_gramian")
        with name_scope("row_prepare_gramian"):
            self._row_update_prep_gramian = self._prepare_gramian(self._col_factors, self._col_gramian)
        with name_scope("col_prepare_gramian"):
            self._col_update_prep_gramian = self._prepare_gramian(self._row_factors, self._row_gramian)
        with name_scope("transient_vars"):
            self._create_transient_vars()

    @property
    def row_factors(self) -> list[Any]:
        """The factors of rows, in shards."""
        return self._row_factors

    @property
    def col_factors(self) -> list[Any]:
        """The factors of columns, in shards."""
        return self._col_factors

    @property
    def row_weights(self) -> Any:
        """The weights of rows, in shards; None without weights."""
        return self._row_weights

    @property
    def col_weights(self) -> Any:
        """The weights of columns, in shards; None without weights."""
        return self._col_weights

    @property
    def initialize_op(self) -> Any:
        """Initializes what the model learns."""
        variables = [*self._row_factors, *self._col_factors, self._row_gramian, self._col_gramian]
        return tf.variables_initializer([*variables, *(self._row_weights or []), *(self._col_weights or [])])

    @property
    def worker_init(self) -> Any:
        """Takes weights into the cache of this worker, before anything else."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """Computes VᵀV, before rows are updated."""
        return self._row_update_prep_gramian

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """Computes UᵀU, before columns are updated."""
        return self._col_update_prep_gramian

    @property
    def initialize_row_update_op(self) -> Any:
        """Takes the factors of columns into the cache of this worker."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self) -> Any:
        """Takes the factors of rows into the cache of this worker."""
        return self._col_updates_init

    @classmethod
    def _create_factors(cls, rows: int, cols: int, num_shards: int, init: Any, name: str) -> list[Any]:
        if callable(init):
            init = init()
        is_random = isinstance(init, str) and init == "random"
        if isinstance(init, list):
            assert len(init) == num_shards
        elif not is_random and num_shards == 1:
            init = [init]
        return _sharded(name, _shard_sizes(rows, num_shards), lambda i, size: tf.random_normal([size, cols]) if is_random else init[i])

    @classmethod
    def _create_weights(cls, wt_init: Any, num_wts: int, num_shards: int, name: str) -> list[Any] | None:
        if wt_init is None:
            return None
        is_list = isinstance(wt_init, Iterable)
        if is_list:
            if num_shards == 1 and len(wt_init) == num_wts:
                wt_init = [wt_init]
            assert len(wt_init) == num_shards
        elif not (isinstance(wt_init, numbers.Real) and float(wt_init) >= 0):
            raise ValueError(
                "Invalid weight initialization argument. Must be one of these: None, a real non-negative real number, or a list of "
                "lists of non-negative real numbers (or equivalent iterables) corresponding to sharded factors."
            )
        return _sharded(name, _shard_sizes(num_wts, num_shards), lambda i, size: wt_init[i] if is_list else wt_init * tf.ones([size]))

    @staticmethod
    def _create_gramian(n_components: int, name: str) -> Any:
        return tf.Variable(tf.zeros([n_components, n_components]), dtype=tf.float32, name=name)

    @staticmethod
    def _transient_var(name: str) -> Any:
        return tf.Variable(1.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False, name=name)

    def _prepare_gramian(self, factors: list[Any], gramian: Any) -> Any:
        parts = []
        for factor in factors:
            with tf.colocate_with(factor):
                parts.append(tf.matmul(factor, factor, transpose_a=True))
        with tf.colocate_with(gramian):
            return tf.assign(gramian, tf.add_n(parts)).op

    def _cached_copy(self, var: Any, name: str, pass_through: bool = False) -> tuple[Any, Any, Any]:
        """(A copy in local variables or the thing itself, the op that fills it, the op that forgets it)."""
        if var is None:
            return None, None, None
        if pass_through:
            return var, tf.no_op(), tf.no_op()
        if isinstance(var, Variable):
            cache = self._transient_var(name=name)
            with tf.colocate_with(cache):
                return cache, tf.assign(cache, var, validate_shape=False), tf.assign(cache, 1.0, validate_shape=False)
        caches = [self._transient_var(name=f"{name}_shard_{i}") for i in range(len(var))]
        fill: Any = None
        resets = []
        for cache, shard in zip(caches, var, strict=True):
            with tf.colocate_with(cache):
                with tf.control_dependencies([] if fill is None else [fill]):
                    fill = tf.assign(cache, shard, validate_shape=False)
                resets.append(tf.assign(cache, 1.0, validate_shape=False))
        return caches, fill, tf.group(*resets)

    def _create_transient_vars(self) -> None:
        direct, gramian = not self._use_factors_weights_cache, not self._use_gramian_cache
        self._row_factors_cache, fill_rows, forget_rows = self._cached_copy(self._row_factors, "row_factors_cache", direct)
        self._col_factors_cache, fill_cols, forget_cols = self._cached_copy(self._col_factors, "col_factors_cache", direct)
        self._row_wt_cache, fill_row_weights, _ = self._cached_copy(self._row_weights, "row_wt_cache", direct)
        self._col_wt_cache, fill_col_weights, _ = self._cached_copy(self._col_weights, "col_wt_cache", direct)
        self._row_gramian_cache, fill_uu, forget_uu = self._cached_copy(self._row_gramian, "row_gramian_cache", gramian)
        self._col_gramian_cache, fill_vv, forget_vv = self._cached_copy(self._col_gramian, "col_gramian_cache", gramian)
        self._row_updates_init = tf.group(fill_cols, forget_rows, fill_vv, forget_uu)
        self._col_updates_init = tf.group(fill_rows, forget_cols, fill_uu, forget_vv)
        if self._row_wt_cache is None:
            self._worker_init = tf.no_op(name="worker_init")
        else:
            self._worker_init = tf.group(fill_row_weights, fill_col_weights, name="worker_init")

    @staticmethod
    def _get_sharding_func(size: int, num_shards: int) -> Callable[[Any], tuple[Any, Any]]:
        """A function from ids to (their shards, their ids there); the first shards are one larger where sizes don't divide."""

        def shards_of(ids: Any) -> tuple[Any, Any]:
            if num_shards == 1:
                return None, ids
            small, extras = divmod(size, num_shards)
            shard = tf.maximum(ids // (small + 1), (ids - extras) // small)
            return shard, tf.where_v2(shard < extras, ids % (small + 1), (ids - extras) % small)

        return shards_of

    @classmethod
    def scatter_update(cls, factor: list[Any], indices: Any, values: Any, sharding_func: Any, name: str | None = None) -> Any:
        """Sets rows of factors that are in shards."""
        if len(factor) == 1:
            with tf.colocate_with(factor[0]):
                return tf.scatter_update(factor[0], indices, values, name=name).op
        shard, ids = sharding_func(indices)
        shard = tf.cast(shard, tf.int32)
        ids_by_shard = tf.dynamic_partition(ids, shard, len(factor))
        values_by_shard = tf.dynamic_partition(values, shard, len(factor))
        return tf.group(*map(tf.scatter_update, factor, ids_by_shard, values_by_shard), name=name)

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> Any:
        """(New factors, the op that sets them, loss, regularization, sum of weights) for the rows of some entries."""
        return self._process_input_helper(True, sp_input=sp_input, transpose_input=transpose_input)

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> Any:
        """The same for columns."""
        return self._process_input_helper(False, sp_input=sp_input, transpose_input=transpose_input)

    def project_row_factors(self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None) -> Any:
        """The factors that rows of entries would have."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input_helper(True, sp_input=sp_input, transpose_input=transpose_input, row_weights=weights)[0]

    def project_col_factors(self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None) -> Any:
        """The factors that columns of entries would have."""
        weights = 1 if projection_weights is None else projection_weights
        return self._process_input_helper(False, sp_input=sp_input, transpose_input=transpose_input, row_weights=weights)[0]

    def _process_input_helper(
        self, update_row_factors: bool, sp_input: Any = None, transpose_input: bool = False, row_weights: Any = None
    ) -> tuple[Any, Any, Any, Any, Any]:
        assert isinstance(sp_input, SparseTensor)
        if update_row_factors:
            left, right_factors, gramian = self._row_factors, self._col_factors_cache, self._col_gramian_cache
            row_wt, col_wt = self._row_wt_cache, self._col_wt_cache
            total_rows, total_cols, num_shards = self._input_rows, self._input_cols, self._num_row_shards
        else:
            left, right_factors, gramian = self._col_factors, self._row_factors_cache, self._row_gramian_cache
            row_wt, col_wt = self._col_wt_cache, self._row_wt_cache
            total_rows, total_cols, num_shards = self._input_cols, self._input_rows, self._num_col_shards
            transpose_input = not transpose_input
        entries, to_update, to_gather = self._compacted(sp_input, transpose_input)
        num_rows = tf.cast(tf.shape(to_update)[0], tf.int64)
        right = tf.nn.embedding_lookup(right_factors, to_gather, partition_strategy="div")
        total_lhs = self._unobserved_weight * gramian
        if self._regularization_matrix is not None:
            total_lhs += self._regularization_matrix
        weights_of_rows = weights_of_cols = None
        if self._row_weights is None:
            total_rhs = self._unobserved_weight * tf.sparse_tensor_dense_matmul(entries, right, adjoint_a=transpose_input)
            new_left = tf.transpose(tf.matrix_solve(total_lhs, tf.transpose(total_rhs)))
        else:
            weights_of_rows = self._weights_of_rows(row_weights, row_wt, to_update)
            weights_of_cols = tf.nn.embedding_lookup(col_wt, to_gather, partition_strategy="div")
            partial_lhs, total_rhs = apply(
                "WALSComputePartialLhsAndRhs",
                right,
                weights_of_cols,
                self._unobserved_weight,
                weights_of_rows,
                entries.indices,
                entries.values,
                [],
                num_rows,
                transpose_input,
                name="wals_compute_partial_lhs_rhs",
            )
            total_lhs = tf.expand_dims(total_lhs, 0) + partial_lhs
            new_left = tf.squeeze(tf.matrix_solve(total_lhs, tf.expand_dims(total_rhs, -1)), [2])
        update = self.scatter_update(
            left,
            to_update,
            new_left,
            self._get_sharding_func(total_rows, num_shards),
            name="row_update" if update_row_factors else "col_update",
        )
        if transpose_input:
            entries = tf.sparse_transpose(entries)
        scale = total_rows / tf.cast(num_rows, tf.float32)
        losses = self._losses(entries, new_left, right, gramian, weights_of_rows, weights_of_cols, scale, total_rows * total_cols)
        return (new_left, update, *losses)

    @staticmethod
    def _compacted(sp_input: Any, transpose: bool) -> tuple[Any, Any, Any]:
        """(The entries with rows and columns numbered as they come, the ids of those to update, the ids of the others)."""
        rows, cols = tf.split(value=sp_input.indices, num_or_size_splits=2, axis=1)
        row_ids, row_numbers = tf.unique(rows[:, 0])
        col_ids, col_numbers = tf.unique(cols[:, 0])
        numbers_of_cols = tf.expand_dims(tf.cast(col_numbers, tf.int64), 1)
        numbers_of_rows = tf.expand_dims(tf.cast(row_numbers, tf.int64), 1)
        to_update, to_gather = (col_ids, row_ids) if transpose else (row_ids, col_ids)
        shape = [[tf.cast(tf.shape(ids)[0], tf.int64)] for ids in (row_ids, col_ids)]
        indices = tf.concat([numbers_of_rows, numbers_of_cols], 1)
        return SparseTensor(indices=indices, values=sp_input.values, dense_shape=tf.concat(shape, 0)), to_update, to_gather

    @staticmethod
    def _weights_of_rows(given: Any, cached: Any, ids: Any) -> Any:
        if given is None:
            return tf.nn.embedding_lookup(cached, ids, partition_strategy="div")
        count = tf.shape(ids)[0]
        with tf.control_dependencies([tf.assert_less_equal(tf.rank(given), 1)]):
            return tf.cond(tf.equal(tf.rank(given), 0), lambda: tf.ones([count]) * given, lambda: tf.cast(given, tf.float32))

    def _losses(
        self, entries: Any, new_left: Any, right: Any, gramian: Any, weights_of_rows: Any, weights_of_cols: Any, scale: Any, places: int
    ) -> tuple[Any, Any, Any]:
        """(Loss without regularization, regularization, sum of weights), as if all rows were like these."""
        found = apply("MaskedMatmul", new_left, right, entries.indices, False, True)
        approximation = SparseTensor(entries.indices, found, entries.dense_shape)
        residual = tf.square(tf.sparse_add(entries, approximation * (-1)))
        row_weights = tf.constant(0.0) if weights_of_rows is None else tf.expand_dims(weights_of_rows, 1)
        col_weights = tf.constant(0.0) if weights_of_cols is None else tf.expand_dims(weights_of_cols, 0)
        left_gramian = tf.matmul(new_left, new_left, transpose_a=True)
        unobserved = (
            tf.sparse_reduce_sum(residual) - tf.sparse_reduce_sum(tf.square(approximation)) + tf.trace(tf.matmul(left_gramian, gramian))
        )
        observed = tf.sparse_reduce_sum(row_weights * (residual * col_weights))
        loss = (self._unobserved_weight * unobserved + observed) * scale
        regularization = tf.constant(0.0)
        if self._regularization is not None:
            regularization = self._regularization * (tf.trace(left_gramian) * scale + tf.trace(gramian))
        sum_weights = self._unobserved_weight * tf.cast(places, tf.float32)
        if weights_of_rows is not None and weights_of_cols is not None:
            ones = SparseTensor(entries.indices, tf.ones(tf.shape(entries.values)), entries.dense_shape)
            sum_weights += tf.sparse_reduce_sum(row_weights * (ones * col_weights)) * scale
        return loss, regularization, sum_weights
