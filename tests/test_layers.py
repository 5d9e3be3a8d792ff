"""The layers of the house: imports point down, and stand at the top of modules unless something forbids it."""

import ast
import collections
import functools
import pathlib
import subprocess
import sys
from typing import NamedTuple

from everflow.index import FUSED, OPS

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From the ground up. What stands in no layer here is above all of them.
LAYERS = (
    {
        "_native",
        "about",
        "alias",
        "api",
        "arguments",
        "compat",
        "cycles",
        "errors",
        "facts",
        "index",
        "internals",
        "late_torch",
        "lazy",
        "looks",
        "nest",
        "nest_paths",
        "platform",
        "proto",
        "replacements",
        "versions",
        "years",
    },
    {"graph", "values", "io"},
    {"ops"},
    {"autodiff"},
    {"runtime"},
)

# Where a lower layer calls a higher one, at the first use and with a reason: (the module, what it calls).
DOORS = {
    # Names and ops are found by the modules that define them.
    ("api", "ops.core.registry"),
    ("internals", "ops.core.registry"),
    # Where ops run at once, values are eager tensors; programs that build graphs never load them.
    ("graph.convert", "eager.tensor"),
    ("graph.scopes", "eager.devices"),
    ("ops.core.registry", "eager.execute"),
    ("ops.variables.resource_variables", "eager.variables"),
    ("ops.control_flow.python_functions", "eager.context"),
    ("ops.control_flow.python_functions", "eager.tensor"),
    # Static shapes follow from what ops compute.
    ("graph.constants", "runtime.building"),
    # A list in which tensors stand becomes a Pack.
    ("graph.convert", "ops.arrays.joining"),
    # The kinds of items that collections write to MetaGraphs.
    ("graph.collection_protos", "train.metagraphs.kinds"),
    # Sessions on clusters.
    ("runtime.session", "distribute.targets"),
    ("runtime.context", "distribute.partition"),
    # Runs that are watched.
    ("runtime.tracing", "debug.watched_runs"),
    # Where importlib.metadata asks, it has been loaded; few programs do.
    ("alias", "dist_info"),
    # Public functions that are given ragged tensors.
    ("platform.ragged_dispatch", "ragged.dispatch"),
}

# Programs that should start quickly. What they do not load, the modules that they do load import at first use.
HELLO = """
import sys, everflow as tf
with tf.Session() as sess:
    sess.run(tf.constant(1.0) + 2.0)
print(*(name.removeprefix("everflow.") if name.startswith("everflow.") else "outside." + name for name in sys.modules))
"""
TRAINING = """
import sys, everflow as tf
x = tf.placeholder(tf.float32, [None, 4])
y = tf.layers.dense(x, 3, tf.nn.relu)
loss = tf.losses.sparse_softmax_cross_entropy([0, 1], y)
train = tf.train.AdamOptimizer().minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: [[1, 2, 3, 4], [5, 6, 7, 8]]})
print(*(name.removeprefix("everflow.") if name.startswith("everflow.") else "outside." + name for name in sys.modules))
"""


class Import(NamedTuple):
    module: str
    target: str
    line: int
    inside: bool


def _name(path):
    return ".".join(path.relative_to(ROOT / "everflow").with_suffix("").parts).removesuffix("__init__").removesuffix(".")


@functools.cache
def modules():
    """{name below everflow: file}, without generated code."""
    found = {_name(path): path for path in (ROOT / "everflow").rglob("*.py")}
    return {name: path for name, path in found.items() if name and not name.startswith(("proto.tensorflow", "index"))}


def _targets(node):
    """What an import asks for: modules below everflow by their names there, others as `outside.numpy`."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names if alias.name != "everflow"]
        return [name.removeprefix("everflow.") if name.startswith("everflow.") else "outside." + name for name in names]
    if node.level or node.module is None:
        return []
    if not (node.module + ".").startswith("everflow."):
        return ["outside." + node.module]
    package = node.module.removeprefix("everflow").removeprefix(".")
    named = [".".join(filter(None, (package, alias.name))) for alias in node.names]
    return [name if name in modules() else package for name in named if name in modules() or package]


def _imports(name, node, inside):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ("TYPE_CHECKING" in ast.dump(child.test) or "__main__" in ast.dump(child.test)):
            continue
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield from (Import(name, target, child.lineno, inside) for target in _targets(child))
        yield from _imports(name, child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))


@functools.cache
def imports():
    return [found for name, path in modules().items() for found in _imports(name, ast.parse(path.read_text()), False)]


@functools.cache
def reached():
    """{module: what is imported with it}, by the imports at the top of modules."""
    direct = {name: set() for name in modules()}
    for found in imports():
        parts = found.target.split(".")
        if not found.inside:
            packages = (".".join(parts[: i + 1]) for i in range(len(parts)))
            # A package is there before its modules.
            direct[found.module].update(name for name in packages if not (found.module + ".").startswith(name + "."))
    whole = {}
    for name in direct:
        seen, stack = set(), [name]
        while stack:
            for target in direct.get(stack.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        whole[name] = seen
    return whole


def layer(name):
    room = name.partition(".")[0]
    return -1 if room == "outside" else next((i for i, rooms in enumerate(LAYERS) if room in rooms), len(LAYERS))


def run(code):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_imports_point_down():
    up = [found for found in imports() if layer(found.target) > layer(found.module)]
    assert [f for f in up if not f.inside or (f.module, f.target) not in DOORS] == []
    assert DOORS - {(f.module, f.target) for f in up} == set(), "no longer there"


def test_no_module_imports_itself_through_others():
    assert [name for name, found in reached().items() if name in found] == []


def reason(found, programs):
    """Why an import stands inside a function; "" where it could as well stand at the top of its module."""
    if (found.module, found.target) in DOORS:
        return "a door"
    if found.target.startswith("outside."):
        # What removes the years stands there before the packages that it watches.
        is_loaded = found.target in programs[0] and not found.module.startswith("years.")
        return "" if is_loaded else "few programs need it"
    if found.target in ("proto", "proto.modules"):
        return "protocol buffers take long to load"
    if found.module in reached().get(found.target, ()):
        return "it would be circular"
    if found.module.startswith(("cli", "tools")):
        return "a command loads what it needs"
    return "start-up" if any(found.module in loaded and found.target not in loaded for loaded in programs) else ""


def test_imports_stand_at_the_top_of_modules():
    """Unless there is a reason."""
    programs = [set(run(program).split()) for program in (HELLO, TRAINING)]
    assert all("runtime.session" in loaded and "saved_model.loader" not in loaded for loaded in programs)
    assert [found for found in imports() if found.inside and not reason(found, programs)] == []


def test_an_op_is_known_by_name_to_one_module_of_the_runtime():
    """To the pass that makes or matches it. What several must know of an op is a fact that the op states; see Meaning."""
    known = {*OPS, *FUSED}
    naming = collections.defaultdict(set)
    for name, path in modules().items():
        if name.startswith("runtime."):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
                    naming[node.value].add(name)
    assert {op: where for op, where in naming.items() if len(where) > 1} == {}


def public_functions(path):
    """The functions that a module defines and programs call as `tf.` something."""
    tree = ast.parse(path.read_text())
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {f.name for f in defined for d in f.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "public"}


def test_ops_are_called_as_programs_call_them():
    """`tf.concat(...)`, not a concat that is imported from where it is defined."""
    defined = {f"everflow.{name}": public_functions(path) for name, path in modules().items() if name.startswith("ops.")}
    imported = [
        (name, node.module, alias.name)
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in defined.get(node.module, ())
    ]
    assert imported == []


def test_graphs_are_built_without_torch():
    code = "import sys, everflow as tf; tf.layers.dense(tf.placeholder(tf.float32, [None, 4]), 3); print('torch' in sys.modules)"
    assert run(code).split() == ["False"]
