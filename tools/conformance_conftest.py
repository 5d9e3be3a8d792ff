"""Beside TensorFlow's tests (see conformance.py): finds the modules that only tests import, and leaves out tests that don't count.

It runs under TensorFlow's Python 3.7 too.
"""

import importlib
import importlib.machinery
import importlib.util
import itertools
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "suite.json")) as file:
    SUITE = json.load(file)
FILES = SUITE["helpers"]


class Finder:
    """Finds helpers, and the packages that hold nothing else."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        plain = name.replace("tensorflow_core.", "tensorflow.", 1)
        if plain in FILES:
            return importlib.util.spec_from_file_location(name, os.path.join(HERE, "helpers", FILES[plain]))
        if plain.rpartition(".")[2] in ("tests", "kernel_tests") and any(helper.startswith(plain + ".") for helper in FILES):
            package = importlib.machinery.ModuleSpec(name, None, is_package=True)
            package.submodule_search_locations = []
            return package
        return None


sys.meta_path.insert(0, Finder)
seen = set()
passed = set()


def load_helpers(path):
    """Imports the helpers that a file names, and theirs, before the implementation can offer modules of these names."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for module, helper in FILES.items():
        package, _, name = module.rpartition(".")
        if module in seen or module in sys.modules or package not in text or not re.search(rf"\b{name}\b", text):
            continue
        seen.add(module)
        load_helpers(os.path.join(HERE, "helpers", helper))
        try:
            importlib.import_module(module)
        except Exception as error:  # the tests that need it fail, and say why
            print(f"{module} cannot be imported: {error}")


def pytest_pycollect_makemodule(module_path, parent):
    load_helpers(str(module_path))


def name_of(nodeid):
    """Class::test; a number stands for the address of a function, which differs from run to run."""
    owner, _, test = nodeid.partition("::")[2].rpartition("::")
    count = itertools.count()
    test = re.sub(r"at0x[0-9a-f]{8,}", lambda _: f"at{next(count)}", test)
    return f"{owner or os.path.splitext(os.path.basename(nodeid.partition('::')[0]))[0]}::{test}"


def counts(item):
    return SUITE["wanted"] is None or name_of(item.nodeid) in SUITE["wanted"][item.path.name]


def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[item for item in items if not counts(item)])
    items[:] = filter(counts, items)


def pytest_runtest_logreport(report):
    """Tells of each test as it ends, so that those before a crash count."""
    if report.when == "call" and report.passed:
        passed.add(report.nodeid)
    elif report.when == "teardown" and report.passed and report.nodeid in passed:
        with open(os.environ["CONFORMANCE_PASSED"], "a") as file:
            file.write(name_of(report.nodeid) + "\n")
