"""Variables that are made within a block become dependencies of an object."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public


@public("contrib.checkpoint.capture_dependencies")
@internal("training.tracking.util.capture_dependencies")
@contextlib.contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Makes variables that are made within a `with` block dependencies of a template, by their names below its scope.

    A variable of a block inside is that template's, and that template is a dependency of this one.
    """
    prefix = template.variable_scope.name + "/"
    making = False

    def create(next_creator: Any, name: str | None = None, initial_value: Any = None, trackable_parent: Any = None, **kwargs: Any) -> Any:
        nonlocal making

        def make(initializer: Any = None, **ignored: Any) -> Any:
            return next_creator(initial_value=initializer, name=name, trackable_parent=template, **kwargs)

        if name is None or not name.startswith(prefix):
            return next_creator(initial_value=initial_value, name=name, trackable_parent=trackable_parent, **kwargs)
        if making:
            # A checkpoint that waited for the variable has an optimizer make its slots, which are the optimizer's.
            return make(initial_value)
        if trackable_parent is None:
            making = True
            try:
                below = name.removeprefix(prefix)
                return template._add_variable_with_custom_getter(below, initializer=initial_value, getter=make, overwrite=True)
            finally:
                making = False
        # A template that is made anew takes the place of the one before.
        template._track_trackable(trackable_parent, trackable_parent.variable_scope.name.removeprefix(prefix), overwrite=True)
        return make(initial_value)

    with tf.variable_creator_scope(create):
        yield
