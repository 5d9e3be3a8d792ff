"""What object checkpoints know of an optimizer: its own variables, and a slot for each variable that it trains."""

from __future__ import annotations

from typing import Any

from everflow.eager.context import executing_eagerly
from everflow.graph.stacks import get_default_graph
from everflow.graph.trackable import Trackable, TrackableReference


class TrackableOptimizer(Trackable):
    """The part of `tf.train.Optimizer` that checkpoints use."""

    _non_slot_dict: dict[Any, Any]

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        raise NotImplementedError

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        raise NotImplementedError

    def get_name(self) -> str:
        """The name given at construction."""
        raise NotImplementedError

    def _own_state(self) -> dict[str, Any]:
        """{name: variable} of the state that belongs to no single variable, in the graph of today."""
        graph = None if executing_eagerly() else get_default_graph()
        return {
            name: variable for (name, owner), variable in sorted(self._non_slot_dict.items(), key=lambda item: item[0][0]) if owner is graph
        }

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        return [*super()._checkpoint_dependencies, *(TrackableReference(*item) for item in self._own_state().items())]

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        return self._own_state().get(name) if found is None else found

    @property
    def _waiting_slots(self) -> dict[tuple[str, Any], list[Any]]:
        """Restores of slots that are not made yet, by slot name and variable."""
        return self.__dict__.setdefault("_deferred_slot_restorations", {})

    def _restore_slot_variable(self, slot_name: str, variable: Any, slot_variable: Any) -> None:
        """Restores a slot that was made now, where a checkpoint waits for it."""
        from everflow.train.optimizer import variable_key

        waiting = self._waiting_slots.pop((slot_name, variable_key(variable)), [])
        for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
            position.restore(slot_variable)

    def _create_or_restore_slot_variable(self, slot_variable_position: Any, slot_name: str, variable: Any) -> None:
        """Restores a slot, made now where its value can be its initial one, or waits until it is made."""
        from everflow.train.optimizer import variable_key

        key = variable_key(variable)
        slot = self._slot_dict(slot_name).get(key)
        if slot is None and executing_eagerly() and slot_variable_position.is_simple_variable():
            from everflow.train.tracking.positions import CheckpointInitialValue

            slot = self._get_or_make_slot(
                var=variable,
                val=CheckpointInitialValue(checkpoint_position=slot_variable_position),
                slot_name=slot_name,
                op_name=self.get_name(),
            )
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._waiting_slots.setdefault((slot_name, key), []).append(slot_variable_position)
