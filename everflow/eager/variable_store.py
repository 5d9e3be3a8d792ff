"""EagerVariableStore: lets tf.get_variable share variables while ops run at once."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.ops.variables.store import VariableStore
from everflow.ops.variables.variable_scope import with_variable_store


@public("contrib.eager.EagerVariableStore")
@internal("ops.variable_scope.EagerVariableStore")
class EagerVariableStore:
    """Variables by name; within `with store.as_default():` tf.get_variable finds them again."""

    def __init__(self, store: VariableStore | None = None) -> None:
        if store is not None:
            if not store._store_eager_variables:
                raise ValueError("Cannot construct EagerVariableStore from a VariableStore object that does not hold eager variables.")
            self._store = store
        else:
            self._store = VariableStore()
        self._store._store_eager_variables = True

    def as_default(self) -> Any:
        """A block in which tf.get_variable uses this store."""
        return with_variable_store(self._store)

    def variables(self) -> list[Any]:
        """All variables, by name."""
        return sorted(self._store._vars.values(), key=lambda v: v.name)

    def trainable_variables(self) -> list[Any]:
        """Those that training changes."""
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self) -> list[Any]:
        """The others."""
        return [v for v in self.variables() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """A store of variables of its own, with the same values."""
        assert executing_eagerly()
        made = EagerVariableStore()
        for name, variable in self._store._vars.items():
            made._store._vars[name] = type(variable)(variable.read_value(), name=name, trainable=variable.trainable)
        return made
