"""Models as files: JSON and YAML, HDF5, checkpoints and SavedModels."""
