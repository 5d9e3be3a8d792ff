"""What SavedModels say of layers: their kind, their config, and the functions that call them."""

from __future__ import annotations

from typing import Any


class LayerSaving:
    """The part of Layer that tf.saved_model.save looks at."""

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_layer"

    @property
    def _tracking_metadata(self) -> str:
        from everflow.keras.saving.object_metadata import metadata_of

        return metadata_of(self)

    def _list_extra_dependencies_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        from everflow.keras.saving.object_attributes import attributes_of

        return attributes_of(self, serialization_cache).objects

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        from everflow.keras.saving.object_attributes import attributes_of, functions_of_program

        return {**functions_of_program(self), **attributes_of(self, serialization_cache).functions}
