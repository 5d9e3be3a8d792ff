"""Classes that are made with as little as they take, and the defaults of all that they could be given, which are facts of 1.15.5."""

import importlib.util
import json
import pathlib

import pytest

import everflow as tf
from everflow import api

TESTS = pathlib.Path(__file__).parent.parent
PARAMETERS = json.loads((TESTS / "facts/parameters.json").read_text())
METHODS = json.loads((TESTS / "facts/methods.json").read_text())


def _looks():
    spec = importlib.util.spec_from_file_location("looks_of_defaults", TESTS / "looks.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


looks = _looks()
cells = tf.keras.layers.LSTMCell
# What has to be given: of classes by name, and of those whose names end alike.
GIVEN = {
    "layers.Activation": ["relu"],
    "layers.Bidirectional": lambda: [tf.keras.layers.LSTM(2)],
    "layers.Dot": [1],
    "layers.Embedding": [3, 2],
    "layers.InputLayer": [(2,)],
    "layers.Lambda": [lambda x: x],
    "layers.Permute": [(2, 1)],
    "layers.Reshape": [(2,)],
    "layers.RNN": lambda: [cells(2)],
    "layers.StackedRNNCells": lambda: [[cells(2)]],
    "layers.TimeDistributed": lambda: [tf.keras.layers.Dense(2)],
    "layers.Wrapper": lambda: [tf.keras.layers.Dense(2)],
    "callbacks.CSVLogger": ["log.csv"],
    "callbacks.LearningRateScheduler": [lambda epoch: 0.1],
    "callbacks.ModelCheckpoint": ["w.h5"],
    "metrics.MeanIoU": [2],
    "metrics.MeanRelativeError": [1.0],
    "metrics.SensitivityAtSpecificity": [0.5],
    "metrics.SpecificityAtSensitivity": [0.5],
    "optimizers.schedules.ExponentialDecay": [0.1, 2, 0.5],
    "optimizers.schedules.InverseTimeDecay": [0.1, 2, 0.5],
    "optimizers.schedules.PiecewiseConstantDecay": [[1], [0.1, 0.2]],
    "optimizers.schedules.PolynomialDecay": [0.1, 2],
    "preprocessing.sequence.TimeseriesGenerator": [[1, 2, 3], [1, 2, 3], 1],
}
ENDINGS = {"Conv": [2, 2], "Local": [2, 2], "Separable": [2, 2], "Depthwise": [2]}
UNITS = (
    "Dense",
    "GRU",
    "GRUCell",
    "LSTM",
    "LSTMCell",
    "SimpleRNN",
    "SimpleRNNCell",
    "MaxoutDense",
    "CuDNNGRU",
    "CuDNNLSTM",
    "RepeatVector",
)
RATES = ("Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
# Bases, what needs data, and what needs more than this machine may have.
LEFT_OUT = {"AbstractRNNCell", "Loss", "Metric", "Optimizer", "LearningRateSchedule", "DenseFeatures", "Iterator", "NumpyArrayIterator"} | {
    "DirectoryIterator",
    "LinearModel",
    "WideDeepModel",
    "HDF5Matrix",
    "CustomObjectScope",
    "GeneratorEnqueuer",
    "OrderedEnqueuer",
    "Progbar",
}


def needed(name):
    last = name.rsplit(".", 1)[-1]
    if name in GIVEN:
        return GIVEN[name]() if callable(GIVEN[name]) else GIVEN[name]
    if name.startswith("layers."):
        if last in UNITS:
            return [2]
        if last in RATES:
            return [0.5]
        return next((given for start, given in ENDINGS.items() if last.startswith(start)), [])
    return []


def classes(module):
    names = [n[len("keras.") :] for n in PARAMETERS if n.startswith(f"keras.{module}.") and api.has(n)]
    return [n for n in names if isinstance(api.find("keras." + n), type) and n.rsplit(".", 1)[-1] not in LEFT_OUT]


@pytest.mark.parametrize(
    ("module", "least"),
    [
        ("layers", 75),
        ("losses", 10),
        ("metrics", 30),
        ("optimizers", 10),
        ("callbacks", 10),
        ("constraints", 3),
        ("regularizers", 0),
        ("preprocessing", 2),
    ],
)
def test_defaults_are_those_of_tensorflow(module, least):
    found = classes(module)
    assert len(found) >= least
    for name in found:
        made = api.find("keras." + name)(*needed(name))
        assert (name, looks.parameters(type(made))) == (name, PARAMETERS["keras." + name])


@pytest.mark.parametrize("name", [n for n in METHODS if api.has(n)])
def test_methods_have_the_defaults_of_tensorflow(name):
    found = {method: getattr(api.find(name), method) for method in METHODS[name]}
    assert {method: looks.parameters(getattr(m, "__func__", m)) for method, m in found.items()} == METHODS[name]


def test_functions_have_the_defaults_of_tensorflow():
    functions = {n: api.find(n) for n in PARAMETERS if n.startswith("keras.") and api.has(n)}
    functions = {n: f for n, f in functions.items() if not isinstance(f, type)}
    assert len(functions) > 200
    assert {n: looks.parameters(f) for n, f in functions.items()} == {n: PARAMETERS[n] for n in functions}
