"""Written by `make index`."""
from typing import Any

from everflow.keras.model import Model as Model
from everflow.keras.sequential import Sequential as Sequential
from everflow.keras.cloning import clone_model as clone_model
from everflow.keras.saving.files import load_model as load_model
from everflow.keras.saving.configs import model_from_config as model_from_config
from everflow.keras.saving.configs import model_from_json as model_from_json
from everflow.keras.saving.configs import model_from_yaml as model_from_yaml
from everflow.keras.saving.files import save_model as save_model
