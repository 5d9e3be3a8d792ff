"""tf.variable_scope and tf.get_variable: names, sharing and defaults for the variables made inside a block."""

from __future__ import annotations

import contextlib
import enum
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import get_collection, get_collection_ref, graph_of, is_eager_outside, name_scope
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.ops.variables.ref_variables import RefVariable
from everflow.ops.variables.resource_variables import ResourceVariable
from everflow.ops.variables.store import STORE_KEY, VariableStore, default_variable_store
from everflow.ops.variables.traced_creation import create_variable, is_tracing
from everflow.ops.variables.variables import VariableAggregation, VariableSynchronization

SCOPES_KEY = internal("ops.variable_scope._VARSCOPESTORE_KEY")(("__varscope",))


class _ReuseMode(enum.Enum):
    """How variables are shared, beyond True and False."""

    AUTO_REUSE = 1


internal("ops.variable_scope._ReuseMode")(_ReuseMode)
# Programs that look at the default see what it is before they change it.
internal("ops.variable_scope._DEFAULT_USE_RESOURCE")(False)
AUTO_REUSE = public("AUTO_REUSE")(_ReuseMode.AUTO_REUSE)
_uses_resources = False


@public("enable_resource_variables")
def enable_resource_variables() -> None:
    """Makes resource variables the default."""
    global _uses_resources
    _uses_resources = True


@public("disable_resource_variables")
def disable_resource_variables() -> None:
    """Makes reference variables the default."""
    global _uses_resources
    _uses_resources = False


@public("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether resource variables are the default."""
    return _uses_resources


@internal("ops.variable_scope.default_variable_creator", "ops.variables.default_variable_creator")
def default_variable_creator(next_creator: Any = None, **kwargs: Any) -> Any:
    """Makes a variable of the kind that the arguments, the scope or the program's default ask for."""
    # Whose dependency it is matters to those who capture dependencies only.
    kwargs.pop("trackable_parent", None)
    use_resource = kwargs.pop("use_resource", None)
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = _uses_resources
    if use_resource or is_eager_outside():
        return default_variable_creator_v2(next_creator, **kwargs)
    return RefVariable(**kwargs)


@internal("ops.variable_scope.default_variable_creator_v2", "ops.variables.default_variable_creator_v2")
def default_variable_creator_v2(next_creator: Any = None, **kwargs: Any) -> Any:
    """Makes a resource variable."""
    for unused in ("expected_shape", "use_resource", "trackable_parent"):
        kwargs.pop(unused, None)
    if is_tracing():
        return create_variable(ResourceVariable, kwargs)
    return ResourceVariable(**kwargs)


@public("no_regularizer")
def no_regularizer(_: Any) -> None:
    """A regularizer that keeps the regularizer of the scope from being used."""


@public("VariableScope")
class VariableScope:
    """A prefix of variable names, with the defaults for variables made below it."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: dtypes.DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        if in_eager_mode():
            if caching_device is not None:
                raise NotImplementedError("Caching devices is not yet supported when eager execution is enabled.")
            # A function traced below such a scope finds the variables that it made when it was traced before.
            reuse, use_resource = AUTO_REUSE, True
        self._name, self._name_scope = name, name_scope
        self._reuse, self._use_resource, self._custom_getter = reuse, use_resource, custom_getter
        self._dtype, self._initializer, self._regularizer, self._constraint = dtype, initializer, regularizer, constraint
        self._caching_device, self._partitioner = caching_device, partitioner

    name = property(lambda self: self._name, doc="The prefix, without a slash at its end.")
    original_name_scope = property(lambda self: self._name_scope, doc="The name scope that the block opened when it was first entered.")
    reuse = property(lambda self: self._reuse, doc="Whether variables are found (True), made (False) or either (AUTO_REUSE).")
    initializer = property(lambda self: self._initializer, doc="The default initializer.")
    dtype = property(lambda self: self._dtype, doc="The default element type.")
    use_resource = property(lambda self: self._use_resource, doc="Whether variables are resource variables.")
    regularizer = property(lambda self: self._regularizer, doc="The default regularizer.")
    caching_device = property(lambda self: self._caching_device, doc="Where reads are cached.")
    partitioner = property(lambda self: self._partitioner, doc="The default partitioner.")
    custom_getter = property(lambda self: self._custom_getter, doc="What is called in get_variable's place.")
    constraint = property(lambda self: self._constraint, doc="The default constraint.")

    def reuse_variables(self) -> None:
        """From now on variables of this scope are found, not made."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: dtypes.DTypeLike) -> None:
        """Sets the default element type."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Sets whether variables are resource variables."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Callable[..., Any] | None) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets where reads are cached."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Callable[..., Any] | None) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets what is called in get_variable's place."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str | None) -> list[Any]:
        """A collection's items of this scope."""
        return get_collection(name, self._name + "/" if self._name else self._name)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: Any = None,
        dtype: dtypes.DTypeLike | None = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """The variable of this name below the scope, with the scope's defaults."""
        chosen = self._with_defaults(
            regularizer=regularizer, caching_device=caching_device, partitioner=partitioner, custom_getter=custom_getter, reuse=reuse
        )
        if in_eager_mode():
            # Each call makes a variable, unless an EagerVariableStore holds them.
            chosen["reuse"] = False
        # Names of variables depend on variable scopes alone.
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")
            chosen |= self._with_defaults(initializer=initializer, constraint=constraint, dtype=dtype, use_resource=use_resource)
            return var_store.get_variable(
                f"{self.name}/{name}" if self.name else name,
                shape=shape,
                trainable=trainable,
                collections=collections,
                validate_shape=validate_shape,
                synchronization=synchronization,
                aggregation=aggregation,
                **chosen,
            )

    def _with_defaults(self, **given: Any) -> dict[str, Any]:
        """What was given, and this scope's own where nothing was."""
        return {key: getattr(self, "_" + key) if value is None else value for key, value in given.items()}

    def _get_partitioned_variable(
        self,
        var_store: VariableStore,
        name: str | None,
        shape: Any = None,
        dtype: dtypes.DTypeLike | None = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        chosen = self._with_defaults(
            initializer=initializer,
            regularizer=regularizer,
            constraint=constraint,
            caching_device=caching_device,
            partitioner=partitioner,
            dtype=dtype,
            use_resource=use_resource,
        )
        if self._custom_getter is not None:
            raise ValueError(
                "Private access to _get_partitioned_variable is not allowed when a custom getter is set.  Current "
                f"custom getter: {self._custom_getter}.  It is likely that you're using create_partitioned_variables.  "
                "If so, consider instead using get_variable with a non-empty partitioner parameter instead."
            )
        if chosen["partitioner"] is None:
            raise ValueError("No partitioner was specified")
        full_name = "/".join(part for part in (self.name, name) if part)
        if not full_name:
            raise ValueError("Cannot get a partitioned variable with no name")
        with name_scope(None):
            return var_store._get_partitioned_variable(
                full_name,
                shape=shape,
                reuse=self.reuse,
                trainable=trainable,
                collections=collections,
                validate_shape=validate_shape,
                synchronization=synchronization,
                aggregation=aggregation,
                **chosen,
            )


@internal("ops.variable_scope._VariableScopeStore")
class VariableScopeStore(threading.local):
    """Which scope a thread is in, and how often each name was opened (for unique default names)."""

    def __init__(self) -> None:
        self.variable_scopes_count: dict[str, int] = {}
        self.current_scope = VariableScope(False)

    def open_variable_scope(self, scope_name: str) -> None:
        """Counts one more scope of this name."""
        self.variable_scopes_count[scope_name] = self.variable_scopes_count.get(scope_name, 0) + 1

    def close_variable_subscopes(self, scope_name: str | None) -> None:
        """Forgets the counts below a scope."""
        for name in self.variable_scopes_count:
            if scope_name is None or name.startswith(scope_name + "/"):
                self.variable_scopes_count[name] = 0

    def variable_scope_count(self, scope_name: str) -> int:
        """How often a scope of this name was opened."""
        return self.variable_scopes_count.get(scope_name, 0)


@internal("ops.variable_scope.get_variable_scope_store")
def variable_scope_store() -> VariableScopeStore:
    """The scopes of the default graph."""
    found = get_collection_ref(SCOPES_KEY)
    if not found:
        found.append(VariableScopeStore())
    return found[0]


@public("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The current variable scope."""
    return variable_scope_store().current_scope


@public("get_variable")
def get_variable(
    name: str,
    shape: Any = None,
    dtype: dtypes.DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The variable of this name in the current variable scope: made, or found where the scope says so."""
    return get_variable_scope().get_variable(default_variable_store(), **locals())


@public("get_local_variable")
def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: dtypes.DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """The same for a variable that is this process's own: not trained and not saved."""
    return get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=False,
        collections=[*(collections or []), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@internal("ops.variable_scope._get_partitioned_variable")
def partitioned_variable(
    name: str | None,
    shape: Any = None,
    dtype: dtypes.DTypeLike | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """A partitioned variable of the current scope."""
    return get_variable_scope()._get_partitioned_variable(
        default_variable_store(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


_DEFAULTS = ("initializer", "regularizer", "caching_device", "partitioner", "use_resource", "constraint")


def _around(outer: Callable[..., Any] | None, inner: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """A custom getter inside the scope of another: it is asked first, and its `getter` is the other one."""
    if inner is None or outer is None:
        return inner or outer

    def nested(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return nested


internal("ops.variable_scope._maybe_wrap_custom_getter")(lambda custom_getter, old_getter: _around(old_getter, custom_getter))


@internal("ops.variable_scope._pure_variable_scope")
class pure_variable_scope:
    """A variable scope that opens no name scope."""

    def __init__(
        self,
        name_or_scope: Any,
        reuse: Any = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Any = None,
        old_name_scope: str | None = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        self._name_or_scope = name_or_scope
        self._reuse = reuse
        self._custom_getter = custom_getter
        self._old_name_scope = old_name_scope
        self._dtype = dtype
        self._given = dict(zip(_DEFAULTS, (initializer, regularizer, caching_device, partitioner, use_resource, constraint)))
        self._scopes = variable_scope_store()
        self._again: VariableScope | None = None
        if isinstance(name_or_scope, VariableScope):
            self._again = self._derived(name_or_scope, name_or_scope.name, reuse or name_or_scope.reuse, name_or_scope._name_scope)

    def _derived(self, base: VariableScope, name: str, reuse: Any, original_name_scope: Any) -> VariableScope:
        """A scope with the defaults of another, except for what this block gives."""
        defaults = {key: getattr(base, key) if value is None else value for key, value in self._given.items()}
        return VariableScope(
            reuse,
            name=name,
            custom_getter=_around(base.custom_getter, self._custom_getter),
            name_scope=original_name_scope,
            dtype=base.dtype if self._dtype is None else self._dtype,
            **defaults,
        )

    def __enter__(self) -> VariableScope:
        scopes = self._scopes
        self._old = scopes.current_scope
        if self._again is not None:
            self._name = self._again.name
            scopes.open_variable_scope(self._name)
            self._old_counts = dict(scopes.variable_scopes_count)
            entered = self._again
        else:
            self._name = f"{self._old.name}/{self._name_or_scope}" if self._old.name else self._name_or_scope
            original = self._name_or_scope if self._old_name_scope is None else self._old_name_scope
            entered = self._derived(self._old, self._name, self._reuse or self._old.reuse, original)
            scopes.open_variable_scope(self._name)
        scopes.current_scope = self._entered = entered
        return entered

    def check_nesting(self) -> None:
        """Raises unless this is the innermost scope."""
        if self._scopes.current_scope is not self._entered:
            raise RuntimeError("Improper nesting of variable_scope.")

    def __exit__(self, *_: Any) -> None:
        self.check_nesting()
        scopes = self._scopes
        scopes.close_variable_subscopes(self._name)
        if self._again is not None:
            scopes.variable_scopes_count = self._old_counts
        scopes.current_scope = self._old


@internal("ops.variable_scope._get_unique_variable_scope")
def unique_scope_name(prefix: Any) -> str:
    """The prefix, or with `_1`, `_2`, ... where a scope of that name was opened already."""
    scopes = variable_scope_store()
    current = get_variable_scope()
    name = f"{current.name}/{prefix}" if current.name else prefix
    if not scopes.variable_scope_count(name):
        return prefix
    i = 1
    while scopes.variable_scope_count(f"{name}_{i}"):
        i += 1
    return f"{prefix}_{i}"


@public("variable_scope")
class variable_scope:
    """`with tf.variable_scope("hidden"): w = tf.get_variable("w", [10])` names the variable `hidden/w`."""

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: dtypes.DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._reuse = reuse or None
        self._given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if self._reuse is not None and self._reuse is not True and self._reuse is not AUTO_REUSE:
            raise ValueError("The reuse parameter must be True or False or None.")
        self._graph = get_default_graph() if in_eager_mode() else graph_of(values or [])
        self._pure: pure_variable_scope | None = None
        self._blocks: list[contextlib.ExitStack] = []
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._opens_name_scope = auxiliary_name_scope

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as block:
            if self._graph is not get_default_graph() and not get_default_graph().building_function:
                block.enter_context(self._graph.as_default())
            scope = self._entered(block)
            self._blocks.append(block.pop_all())
        return scope

    def __exit__(self, *exc: Any) -> None:
        if self._pure is not None:
            self._pure.check_nesting()
        self._blocks.pop().__exit__(*exc)

    def _entered(self, block: contextlib.ExitStack) -> VariableScope:
        if self._pure is not None:
            # Entered again: the same variable scope, and a name scope of its own.
            if self._opens_name_scope and self._scope_name():
                block.enter_context(name_scope(self._scope_name()))
            return block.enter_context(self._pure)
        opened = None
        if not self._opens_name_scope:
            current = get_default_graph().get_name_scope()
            opened = block.enter_context(name_scope(current + "/" if current else current))
        if self._name_or_scope is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            if self._opens_name_scope:
                opened = block.enter_context(name_scope(self._default_name))
            pure = pure_variable_scope(unique_scope_name(self._default_name), old_name_scope=opened, **self._given)  # type: ignore[arg-type]
        else:
            if not isinstance(self._name_or_scope, (VariableScope, str)):
                raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
            last = self._scope_name()
            if last and self._opens_name_scope:
                opened = block.enter_context(name_scope(last))
            if isinstance(self._name_or_scope, VariableScope):
                opened = self._name_or_scope.original_name_scope
            elif not last and self._opens_name_scope:
                opened = None
            pure = pure_variable_scope(self._name_or_scope, reuse=self._reuse, old_name_scope=opened, **self._given)
        scope = block.enter_context(pure)
        self._pure = pure
        return scope

    def _scope_name(self) -> str:
        given = self._name_or_scope if self._name_or_scope is not None else self._default_name
        return given if isinstance(given, str) else given.name.split("/")[-1]  # type: ignore[union-attr]


@public("variable_op_scope")
@contextlib.contextmanager
def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: dtypes.DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Callable[..., Any] | None = None,
) -> Iterator[VariableScope]:
    """An older form of `tf.variable_scope`."""
    with variable_scope(
        name_or_scope,
        default_name=default_name,
        values=values,
        initializer=initializer,
        regularizer=regularizer,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        reuse=reuse,
        dtype=dtype,
        use_resource=use_resource,
        constraint=constraint,
    ) as scope:
        yield scope


@internal("ops.variable_scope.with_variable_store")
@contextlib.contextmanager
def with_variable_store(store: VariableStore) -> Iterator[None]:
    """Lets tf.get_variable use another store within a `with` block."""
    stores = get_collection_ref(STORE_KEY)
    old = list(stores)
    stores[:] = [store]
    try:
        yield
    finally:
        stores[:] = old
