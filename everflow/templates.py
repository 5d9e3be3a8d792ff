"""tf.make_template: a function that makes its variables at its first call and shares them afterwards."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.eager.variable_store import EagerVariableStore
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import get_collection, get_collection_ref
from everflow.graph.trackable import Trackable
from everflow.ops.variables import variable_scope as scopes
from everflow.ops.variables.store import default_variable_store
from everflow.train.tracking.capturing import capture_dependencies


@public("make_template")
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Any:
    """The function with variables of its own: what it gets with tf.get_variable is made once, below a scope called `name_`.

    scale = tf.make_template("scale", lambda x: x * tf.get_variable("factor", []))
    """
    return make_template_internal(name_, func_, create_scope_now_, unique_name_, custom_getter_, create_graph_function_=False, **kwargs)


@internal("ops.template.make_template_internal")
def make_template_internal(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> Any:
    """The same, with the function made into a graph of its own where asked."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    if not executing_eagerly():
        return Template(
            name_,
            func_,
            create_scope_now=create_scope_now_,
            unique_name=unique_name_,
            custom_getter=custom_getter_,
            create_graph_function=create_graph_function_,
        )
    if unique_name_ is not None:
        raise ValueError("unique_name_ cannot be used when eager exeuction is enabled.")
    return EagerTemplate(
        name_, func_, create_scope_now=create_scope_now_, custom_getter=custom_getter_, create_graph_function=create_graph_function_
    )


@internal("ops.template._skip_common_stack_elements")
def skip_common_stack_elements(stacktrace: list[Any], base_case: list[Any]) -> list[Any]:
    """The part of a stack from where it parts from another, at least its last element."""
    parts = (place for place, (here, there) in enumerate(zip(stacktrace, base_case)) if here != there)
    return stacktrace[next(parts, -1) :]


@internal("ops.template.Template")
class Template(Trackable):
    """A function whose variables are made at the first call."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
        create_graph_function: bool = False,
    ) -> None:
        self._func = api.find("contrib.eager.defun")(func) if create_graph_function else func
        self._stacktrace = traceback.format_stack()[:-2]
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        if name is None:
            raise ValueError("name cannot be None.")
        self._variable_scope: Any = None
        if create_scope_now:
            with scopes.pure_variable_scope(unique_name or scopes.unique_scope_name(name), custom_getter=custom_getter) as made:
                self._variable_scope = made
        self._variables_created = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._variable_scope:
            scope = scopes.variable_scope(self._variable_scope, reuse=self._variables_created)
        else:
            scope = scopes.variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter)
        with scope as opened:
            self._variable_scope = self._variable_scope or opened
            return self._call_func(args, kwargs)

    def _call_func(self, args: Any, kwargs: Any) -> Any:
        try:
            if not self._variables_created:
                return self._first_call(args, kwargs)
            before, trained_before = self._existing()
            result = self._func(*args, **kwargs)
            self._check_nothing_new(before, trained_before)
            return result
        except Exception as error:
            first = error.args[0] if error.args else ""
            trace = skip_common_stack_elements(self._stacktrace, traceback.format_stack())
            error.args = (f"{first}\n\noriginally defined at:\n{''.join(trace)}", *error.args[1:])
            raise

    def _first_call(self, args: Any, kwargs: Any) -> Any:
        """Makes the variables."""
        with capture_dependencies(self):
            result = self._func(*args, **kwargs)
        self._variables_created = True
        return result

    def _existing(self) -> tuple[list[Any], list[Any]]:
        return list(get_collection_ref(GraphKeys.GLOBAL_VARIABLES)), list(get_collection_ref(GraphKeys.TRAINABLE_VARIABLES))

    def _check_nothing_new(self, before: list[Any], trained_before: list[Any]) -> None:
        after, trained = self._existing()
        hint = "created when calling a template after the first time, perhaps you used tf.Variable when you meant tf.get_variable:"
        if len(trained) != len(trained_before):
            new = [v for v in trained if not any(v is old for old in trained_before)]
            raise ValueError(f"Trainable variable {hint} {new}")
        if len(after) != len(before):
            new = [v for v in after if not any(v is old for old in before)]
            api.find("logging.info")("New variables %s %s", hint, new)

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function inside."""
        return self._func

    @property
    def variable_scope(self) -> Any:
        """The variable scope, once there is one."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of that scope with a slash at its end."""
        if not self._variable_scope:
            return None
        name = self._variable_scope.name
        return name if not name or name[-1] == "/" else name + "/"

    @property
    def var_scope(self) -> Any:
        """An older name of `variable_scope`."""
        return self._variable_scope

    def _in_scope(self, key: str) -> list[Any]:
        return get_collection(key, self.variable_scope_name) if self._variables_created else []

    @property
    def variables(self) -> list[Any]:
        """All variables, local ones too."""
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Any]:
        """Those that training changes."""
        return self._in_scope(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Those that training leaves alone."""
        trained = self.trainable_variables
        return [v for v in self.variables if not any(v is t for t in trained)]

    @property
    def global_variables(self) -> list[Any]:
        """Those that are saved."""
        return self._in_scope(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Those that are not saved."""
        return self._in_scope(GraphKeys.LOCAL_VARIABLES)

    @property
    def weights(self) -> list[Any]:
        """The same as `variables`."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Any]:
        """The same as `trainable_variables`."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The same as `non_trainable_variables`."""
        return self.non_trainable_variables


@internal("ops.template.EagerTemplate")
class EagerTemplate(Template):
    """The same while ops run at once: the variables live in a store of the template's own."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        custom_getter: Any = None,
        create_graph_function: bool = False,
    ) -> None:
        if not executing_eagerly():
            raise RuntimeError(
                f"{type(self)} objects can only be used when eager execution is enabled, use tf.Template for graph construction"
            )
        super().__init__(name, func, create_scope_now, None, custom_getter, create_graph_function)
        # Inside another template, and inside a store of the program's, variables are shared by their names.
        around = default_variable_store()
        self._template_store = EagerVariableStore(around if around._store_eager_variables else None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # The store comes inside the scope: templates beside each other find which names are taken.
        if self._variable_scope:
            with scopes.variable_scope(self._variable_scope, reuse=scopes.AUTO_REUSE), self._template_store.as_default():
                return self._call_func(args, kwargs)
        with scopes.variable_scope(None, self._name, custom_getter=self._custom_getter) as made:
            self._variable_scope = made
            with self._template_store.as_default():
                return self._call_func(args, kwargs)

    def _below_scope(self, variables: list[Any]) -> list[Any]:
        prefix = self.variable_scope_name or ""
        return [variable for variable in variables if variable.name.startswith(prefix)]

    def _existing(self) -> tuple[list[Any], list[Any]]:
        return self._below_scope(self._template_store.variables()), self._below_scope(self._template_store.trainable_variables())

    @property
    def variables(self) -> list[Any]:
        return self._below_scope(self._template_store.variables()) if self._variables_created else []

    @property
    def trainable_variables(self) -> list[Any]:
        return self._below_scope(self._template_store.trainable_variables()) if self._variables_created else []

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self._below_scope(self._template_store.non_trainable_variables()) if self._variables_created else []

    @property
    def global_variables(self) -> list[Any]:
        return self.variables

    @property
    def local_variables(self) -> list[Any]:
        return []
