"""Reads off an installed TensorFlow 1.15 which names its internal modules hold, and what stands behind each name.

    PYTHON_WITH_TENSORFLOW_1_15 tools/internals.py FACTS_FOLDER everflow/facts/internals.json

The result maps a module (without the leading `tensorflow.`) to its names, and each name to one of
    exp                          the public name of the same object
    ~reduce_sum                  a public function that takes all its parameters, where only TensorFlow 2 made it public
    ~nn.dropout(x,rate)          the same, called with these parameters in this order
    >python.ops.math_ops.x       the module that defines it, where that is another one
    @python.ops.array_ops        a module
    %Exp                         the function generated for an op
    (nothing)                    it is defined here and is nowhere public
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys
import types

FOLDERS = ("python", "contrib", "core", "examples")
LISTED = (*("tensorflow." + folder for folder in (*FOLDERS, "compiler")), "tensorflow_estimator")
PACKAGES = ("tensorflow", "tensorflow_estimator")
# Importing these a second time, or at all, ends the process or needs what is not installed.
AVOID = ("._api", ".debug.examples", "compiler.xla", "tf2xla", "contrib.compiler", "contrib.tpu.profiler")
NOISE = {"tf_export", "keras_export", "estimator_export", "absolute_import", "division", "print_function"}
# Whole internal modules that a namespace shows by a star import.
ACCIDENTAL = ("raw_ops.", "contrib.quantization.")
# Functions that share a name and parameters with one of TensorFlow 2, and mean something else.
DIFFERENT = ("nn.softmax_cross_entropy_with_logits", "strings.split")
PLAIN = (str, bytes, int, float, bool, complex, tuple, list, dict, set, frozenset, type(None))


def import_all(folders, prefix):
    for found in sorted(pkgutil.iter_modules(folders), key=lambda m: m.name):
        name = prefix + found.name
        if any(part in name for part in AVOID) or name.endswith(("_test", "__main__")):
            continue
        try:
            module = importlib.import_module(name)
        except (Exception, SystemExit):
            continue
        if found.ispkg:
            import_all(module.__path__, name + ".")


def public_names(module, path=""):
    """Every name that can be read below the public modules."""
    for name in dir(module):
        if not name.startswith("_"):
            value = getattr(module, name)
            if not isinstance(value, types.ModuleType):
                yield path + name
            elif name != "compat" and any(p in value.__name__ for p in ("._api.", ".api._v1.", ".platform.flags")):
                yield from public_names(value, path + name + ".")


def resolve(root, path):
    for part in path.split("."):
        root = getattr(root, part)
    return root


def public_objects(tf, names):
    """{id: shortest public name} of the objects, and {last part: [(public name, value)]} of plain values."""
    objects, plain = {}, {}
    for name in sorted(names, key=lambda n: (n.startswith("contrib."), n.count("."), n)):
        try:
            value = resolve(tf, name)
        except AttributeError:
            continue
        if isinstance(value, PLAIN):
            plain.setdefault(name.rpartition(".")[2], []).append((name, value))
        else:
            objects.setdefault(id(value), name)
    return objects, plain


def parameters(function):
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def later_objects(tf, objects):
    """{id: public name} of functions that only TensorFlow 2 shows and whose 1.x namesake takes all their parameters."""
    found, seen = {}, set()

    def walk(module, path):
        if id(module) in seen:
            return
        seen.add(id(module))
        for name in dir(module):
            if name.startswith("_"):
                continue
            value = getattr(module, name)
            full = path + name
            if isinstance(value, types.ModuleType):
                if "_api" in value.__name__ and name not in ("compat", "raw_ops"):
                    walk(value, full + ".")
                continue
            if id(value) in objects or isinstance(value, PLAIN) or not callable(value):
                continue
            try:
                older = resolve(tf, full)
            except AttributeError:
                continue
            new, old = parameters(value), parameters(older)
            if inspect.isfunction(value) and new and old and set(new) <= set(old) and full not in DIFFERENT:
                found.setdefault(id(value), full if new == old[: len(new)] else full + "(" + ",".join(new) + ")")

    walk(tf.compat.v2, "")
    return found


def short(module):
    return module[len("tensorflow.") :] if module.startswith("tensorflow.") else module


def main(facts, out):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    import tensorflow_estimator

    core = os.path.dirname(os.path.dirname(tf.python.__file__))
    for folder in FOLDERS:
        import_all([os.path.join(core, folder)], "tensorflow." + folder + ".")
    import_all([os.path.join(tensorflow_estimator.__path__[0], "python")], "tensorflow_estimator.python.")

    names = set(public_names(tf))
    for file in ("api_core.json", "api_contrib.json"):
        with open(os.path.join(facts, file)) as f:
            names.update(name[len("tf.") :] for name in json.load(f))
    with open(os.path.join(facts, "op_defs.json")) as f:
        ops = {op.lower(): op for op in json.load(f)}
    objects, plain = public_objects(tf, {n for n in names if not n.startswith(ACCIDENTAL)})
    later = later_objects(tf, objects)

    modules = {
        name: module
        for name, module in sorted(sys.modules.items())
        if name.split(".")[0] in PACKAGES and "." in name and "._api" not in name
        if isinstance(module, types.ModuleType)
    }
    paths = {}
    for name, module in modules.items():
        paths.setdefault(id(module), name)
    for name, module in modules.items():
        if getattr(module, "__name__", None) == name:
            paths[id(module)] = name

    def behind(name, attribute, value):
        if isinstance(value, types.ModuleType):
            target = paths.get(id(value))
            if target is None or attribute.startswith("_") or not (hasattr(modules[name], "__path__") or attribute.startswith("gen_")):
                return None
            return "@" + short(target)
        if isinstance(value, PLAIN):
            return next((n for n, v in plain.get(attribute, ()) if type(v) is type(value) and v == value), None)
        generated = name.rpartition(".")[2].startswith("gen_") and inspect.isfunction(value)
        if generated and attribute.replace("_", "") in ops:
            return "%" + ops[attribute.replace("_", "")]
        if id(value) in objects:
            return objects[id(value)]
        if id(value) in later:
            return "~" + later[id(value)]
        home = getattr(value, "__module__", None)
        own = getattr(value, "__name__", None)
        if not isinstance(home, str) or home.split(".")[0] not in PACKAGES or not isinstance(own, str):
            return None
        if home == name:
            return None if attribute.startswith("_") else ""
        if attribute in ops.values() and ".gen_" in home:
            return None
        if getattr(modules.get(home), own, None) is value and not attribute.startswith("_"):
            return ">" + short(home) + "." + own
        return None

    table = {}
    for name, module in modules.items():
        if name.endswith("_pb2") or "_pb2_" in name or not name.startswith(LISTED):
            continue
        generated = name.rpartition(".")[2].startswith("gen_")
        entries = {}
        for attribute in sorted(dir(module)):
            value = getattr(module, attribute, None)
            if attribute in NOISE or attribute.startswith("__") or attribute.endswith("_eager_fallback"):
                continue
            if generated and (attribute[:1].isupper() or isinstance(value, types.ModuleType)):
                continue
            target = behind(name, attribute, value)
            if target is not None and target != "@" + short(name) + "." + attribute:
                entries[attribute] = target
        table[short(name)] = entries
    with open(out, "w") as f:
        compact = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
        f.write("{\n" + ",\n".join(compact(name) + ":" + compact(table[name]) for name in sorted(table)) + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
