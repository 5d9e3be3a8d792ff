"""Reads off an installed TensorFlow 1.15 how its public functions and classes look to other libraries.

    PYTHON_WITH_TENSORFLOW_1_15 tools/looks.py FACTS_FOLDER

Writes everflow/facts/homes.json, {module: {name there: public name}}, and files for tests: tests/facts/parameters.json,
{public name: parameters}, tests/facts/methods.json, {class of Keras: {method with defaults: parameters}}, and tests/facts/bases.json,
{public class: the public classes that it is a subclass of}. A thing that has several public names is listed under the shortest.
"""

import inspect
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from looks import parameters  # noqa: E402


def resolve(root, path):
    for part in path.split("."):
        root = getattr(root, part)
    return root


def write(path, table):
    compact = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
    with open(os.path.join(ROOT, path), "w") as f:
        f.write("{\n" + ",\n".join(compact(name) + ":" + compact(table[name]) for name in sorted(table)) + "\n}\n")


def methods(cls):
    """The methods that a class has of its own, those with defaults."""
    own = {name: getattr(cls, name) for name in vars(cls) if not name.startswith("_")}
    found = {name: parameters(getattr(m, "__func__", m)) for name, m in own.items() if inspect.isfunction(getattr(m, "__func__", m))}
    return {name: shown for name, shown in found.items() if "=" in shown}


def main(facts):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    names = set()
    for file in ("api_core.json", "api_contrib.json"):
        with open(os.path.join(facts, file)) as f:
            names.update(name[len("tf.") :] for name in json.load(f))
    homes, shown, classes, seen = {}, {}, {}, set()
    for name in sorted(names, key=lambda n: (n.startswith("contrib."), n.count("."), n)):
        thing = resolve(tf, name)
        module, own = getattr(thing, "__module__", None) or "", getattr(thing, "__qualname__", "")
        if id(thing) in seen or not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        if not module.startswith("tensorflow") or module.endswith("_pb2") or name.startswith("raw_ops."):
            continue
        seen.add(id(thing))
        if parameters(thing) not in (None, "*args, **kwargs"):
            shown[name] = parameters(thing)
        if inspect.isclass(thing):
            classes[thing] = name
        if getattr(sys.modules[module], own, None) is thing:
            homes.setdefault(module, {})[own] = name
    write("everflow/facts/homes.json", homes)
    write("tests/facts/parameters.json", shown)
    keras = {name: methods(cls) for cls, name in classes.items() if name.startswith("keras.")}
    write("tests/facts/methods.json", {name: found for name, found in keras.items() if found})
    bases = {name: [classes[base] for base in cls.__mro__[1:] if base in classes] for cls, name in classes.items()}
    write("tests/facts/bases.json", {name: found for name, found in bases.items() if found})


if __name__ == "__main__":
    main(*sys.argv[1:])
