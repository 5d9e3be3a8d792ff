"""The tf namespace: what is public, and that looking is cheap."""

import json
import pathlib
import subprocess
import sys
import types

import pytest

import everflow as tf
from everflow import api, internals

ROOT = pathlib.Path(__file__).resolve().parent.parent


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def publish():
    """Publishes names for one test."""
    added = []

    def add(value, *names):
        added.extend(names)
        return api.public(*names, owner=__name__)(value)

    prefixes = set(api.PREFIXES)
    yield add
    for name in added:
        api.NAMES.pop(name, None)
        api.OWNERS.pop(name, None)
    api.PREFIXES.intersection_update(prefixes)
    api.CONFLICTS.clear()


def test_index_is_current():
    made = python("import json; from everflow.api import index_text; print(json.dumps(index_text()))")
    text, problems = json.loads(made.splitlines()[-1])
    assert problems == []
    current = (ROOT / "everflow" / "index.py").read_text()
    assert text == current, "run `python -m everflow.api` to write everflow/index.py again"


def test_stubs_are_current():
    """Editors complete `tf.nn.` by them."""
    from everflow import stubs

    assert {name: (api.PACKAGE / name).read_text() for name in stubs.texts()} == stubs.texts(), "run `make index`"
    assert "from everflow.ops.nn.activations import relu as relu" in stubs.texts()["_api/nn/__init__.pyi"]
    assert "from everflow._api import nn as nn" in stubs.texts()["__init__.pyi"]


def test_every_name_in_the_index_resolves():
    missing = []
    for name in api.index().MODULES:
        try:
            api.find(name)
        except KeyError:
            missing.append(name)
    assert missing == []


def test_importing_everflow_imports_neither_numpy_nor_torch():
    loaded = python("import sys, everflow; print(*sys.modules)").split()
    assert "everflow" in loaded and not {"numpy", "torch", "google.protobuf"} & {*loaded}


def test_version_is_that_of_the_api():
    assert tf.__version__ == tf.VERSION == tf.version.VERSION == tf.compat.v1.VERSION == "1.15.5"
    assert tf.keras.__version__ == tf.compat.v1.keras.__version__ == "2.2.4-tf" and not hasattr(tf.nn, "__version__")
    assert tf.GRAPH_DEF_VERSION == 134


def test_names_are_found_where_they_are_published(publish):
    thing = publish(object(), "fresh.deep.thing", "other_thing")
    assert tf.fresh.deep.thing is thing
    assert api.member("", "other_thing") is thing
    assert tf.compat.v1.fresh.deep.thing is thing
    assert "deep" in dir(tf.fresh) and tf.fresh.__all__ == ["deep"]
    del tf.fresh


def test_a_name_that_tensorflow_lacks_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'tensorflow' has no attribute 'nonsense'$"):
        tf.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'tensorflow.version' has no attribute 'nonsense'$"):
        tf.version.nonsense  # noqa: B018
    assert not hasattr(tf, "__wrapped__")


def test_a_name_that_everflow_lacks_says_so(monkeypatch):
    monkeypatch.setattr(api, "wanted", lambda: ["version.later", "someday.thing"])
    with pytest.raises(AttributeError, match=r"Everflow does not have tf\.version\.later yet"):
        tf.version.later  # noqa: B018
    with pytest.raises(AttributeError, match=r"Everflow does not have tf\.someday yet"):
        tf.compat.v1.someday  # noqa: B018


def test_find_knows_only_published_names():
    with pytest.raises(KeyError, match="nonsense"):
        api.find("nonsense")


def test_an_error_inside_a_module_is_not_taken_for_a_missing_name(monkeypatch, tmp_path):
    (tmp_path / "broken_owner.py").write_text("{}['oops']\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(api.index().MODULES, "broken_name", "broken_owner")
    with pytest.raises(KeyError, match="oops"):
        api.member("", "broken_name")


def test_public_modules_win_over_folders_of_the_package(publish, monkeypatch):
    folder = types.ModuleType("everflow.shared_name")
    monkeypatch.setitem(sys.modules, "everflow.shared_name", folder)
    thing = publish(object(), "shared_name.thing")
    tf.shared_name = folder  # what the import system does
    assert tf.shared_name is api.namespace("shared_name")
    assert tf.shared_name.thing is thing
    del tf.shared_name


def test_folders_without_a_public_namesake_are_attributes_as_usual():
    import everflow.cli.main

    assert everflow.cli is sys.modules["everflow.cli"]


def test_programs_may_set_names():
    tf.of_my_own = 3
    assert tf.of_my_own == 3
    del tf.of_my_own
    assert not hasattr(tf, "of_my_own")


def test_two_owners_of_a_name_are_reported(publish):
    publish(1, "contested")
    api.public("contested", owner="another.module")(2)
    assert api.find("contested") == 1
    assert api.CONFLICTS == [f"contested is published by both {__name__} and another.module"]


def test_namespaces_can_be_pickled(publish):
    import pickle

    publish(object(), "fresh.thing")
    assert pickle.loads(pickle.dumps(api.namespace("fresh"))) is api.namespace("fresh")


def test_modules_of_contrib_list_what_they_share_with_others():
    module = tf.contrib.distributions
    assert {"Bernoulli", "Normal", "kl_divergence", "MultivariateNormalDiag"} <= set(dir(module))
    assert module.Normal is tf.distributions.Normal
    for name in dir(module):
        assert getattr(module, name) is not None or name.startswith("__")


def test_modules_that_stand_for_internal_ones_are_found_through_others():
    fn_args = internals.attribute("python.estimator.util", "fn_args")
    assert fn_args is internals.module("python.util.function_utils").fn_args
    assert fn_args(lambda features, labels, *rest, mode=None: None) == ("features", "labels")


def test_objects_below_a_prefix_are_found_once_and_without_namespaces():
    found = api.objects("keras.initializers")
    assert found["Zeros"] is api.find("keras.initializers.Zeros")
    assert found is api.objects("keras.initializers")
    assert "losses" not in api.objects("keras")
