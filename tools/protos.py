"""Writes the .proto sources from wire tables, and the Python code from the .proto sources.

    python tools/protos.py write TABLE.json ...      # wire tables -> everflow/proto/sources/**/*.proto
    python tools/protos.py compile                   # .proto sources -> everflow/proto/**/*_pb2.py, *_pb2_grpc.py
    python tools/protos.py check                     # is the generated code that of the sources?

A wire table is JSON: for each .proto file its package, syntax, imports, messages (fields with number and type), enums
and services. Tables are needed only to write the sources anew.

Generated code refuses to load with a protobuf older than the compiler that made it, so `compile` insists on the
grpcio-tools whose protoc is the oldest we support (25.x, the protobuf 4.25 series); `check` runs with any. In a
throwaway environment:

    python3.11 -m venv /tmp/protoc && /tmp/protoc/bin/pip install grpcio-tools==1.62.3 'setuptools<70'
    /tmp/protoc/bin/python tools/protos.py compile
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "everflow" / "proto"
SOURCES = PACKAGE / "sources"
COMPILER = "1.62."

# TensorFlow moved this file after 1.15; the serving tables name its later place.
MOVED = {"tensorflow/core/protobuf/error_codes.proto": "tensorflow/core/lib/core/error_codes.proto"}

# TensorFlow's cluster registers its methods by hand: as /tensorflow.MasterService/..., not under the package of the
# file, and with one method that the file does not list.
SERVED_PACKAGE = {
    "tensorflow/core/protobuf/master_service.proto": "tensorflow",
    "tensorflow/core/protobuf/worker_service.proto": "tensorflow",
}
UNLISTED_METHODS = {
    ("tensorflow/core/protobuf/worker_service.proto", "WorkerService"): {
        "MarkRecvFinished": {"request": "tensorflow.MarkRecvFinishedRequest", "response": "tensorflow.MarkRecvFinishedResponse"}
    }
}


def read_tables(paths: list[pathlib.Path]) -> dict[str, dict]:
    """All files of the tables, by path; two tables may repeat a file but not disagree about it."""
    files: dict[str, dict] = {}
    for path in paths:
        for name, table in json.loads(path.read_text()).items():
            table["package"] = SERVED_PACKAGE.get(name, table["package"])
            for service, methods in table.get("services", {}).items():
                methods.update(UNLISTED_METHODS.get((name, service), {}))
            if files.setdefault(name, table) != table:
                raise SystemExit(f"{path}: {name} differs from an earlier table")
    return closed(files)


def closed(files: dict[str, dict]) -> dict[str, dict]:
    """The files whose imports can all be found, here or in protobuf itself; the others are named and left out."""
    while True:
        missing = {
            name: absent
            for name, table in files.items()
            if (absent := [i for i in table["imports"] if MOVED.get(i, i) not in files and not i.startswith("google/protobuf/")])
        }
        if not missing:
            return files
        for name, absent in missing.items():
            print(f"left out {name}: no table for {', '.join(absent)}", file=sys.stderr)
        files = {name: table for name, table in files.items() if name not in missing}


class ProtoText:
    """The text of one .proto file, from its table and the set of all type and package names."""

    def __init__(self, table: dict, symbols: set[str]) -> None:
        self.table = table
        self.symbols = symbols

    def render(self) -> str:
        table = self.table
        parts = [[f'syntax = "{table["syntax"]}";'], [f"package {table['package']};"]]
        if table["imports"]:
            parts.append([f'import "{MOVED.get(name, name)}";' for name in sorted(table["imports"])])
        scope = table["package"]
        parts += [list(self.enum(name, values)) for name, values in table.get("enums", {}).items()]
        parts += [list(self.message(name, body, scope)) for name, body in table.get("messages", {}).items()]
        parts += [list(self.service(name, methods)) for name, methods in table.get("services", {}).items()]
        return "\n\n".join("\n".join(part) for part in parts) + "\n"

    def message(self, name: str, body: dict, scope: str) -> Iterator[str]:
        scope = f"{scope}.{name}"
        nested = body.get("messages", {})
        entries = {f"{scope}.{key}": entry["fields"] for key, entry in nested.items() if entry.get("map_entry")}
        lines: list[str] = []
        for key, values in body.get("enums", {}).items():
            lines += self.enum(key, values)
        for key, inner in nested.items():
            if not inner.get("map_entry"):
                lines += self.message(key, inner, scope)
        unions: set[str] = set()
        for key, field in body["fields"].items():
            union = field.get("oneof")
            if union is None:
                lines.append(self.field(key, field, scope, entries))
            elif union not in unions:
                unions.add(union)
                members = {k: f for k, f in body["fields"].items() if f.get("oneof") == union}
                lines += [f"oneof {union} {{", *indented(self.field(k, f, scope, {}) for k, f in members.items()), "}"]
        if lines:
            yield from (f"message {name} {{", *indented(lines), "}")
        else:
            yield f"message {name} {{}}"

    def field(self, name: str, field: dict, scope: str, entries: dict[str, dict]) -> str:
        if field["type"] in entries:
            entry = entries[field["type"]]
            label = f"map<{entry['key']['type']}, {self.short(entry['value']['type'], scope)}>"
        else:
            label = "repeated " * field.get("repeated", False) + self.short(field["type"], scope)
        options = [f"{option} = {str(field[option]).lower()}" for option in ("packed", "deprecated") if option in field]
        return f"{label} {name} = {field['number']}" + (f" [{', '.join(options)}]" if options else "") + ";"

    def enum(self, name: str, values: dict[str, int]) -> Iterator[str]:
        alias = ["option allow_alias = true;"] if len(set(values.values())) < len(values) else []
        yield from (f"enum {name} {{", *indented([*alias, *(f"{k} = {v};" for k, v in values.items())]), "}")

    def service(self, name: str, methods: dict[str, dict]) -> Iterator[str]:
        def side(method: dict, kind: str) -> str:
            stream = "client_stream" if kind == "request" else "server_stream"
            return "stream " * method.get(stream, False) + self.short(method[kind], self.table["package"])

        rpcs = [f"rpc {key}({side(m, 'request')}) returns ({side(m, 'response')});" for key, m in methods.items()]
        yield from (f"service {name} {{", *indented(rpcs), "}")

    def short(self, type_name: str, scope: str) -> str:
        """The shortest spelling that means this type inside a scope."""
        if "." not in type_name:
            return type_name
        parts = type_name.split(".")
        spellings = (".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
        return next(s for s in spellings if self.resolve(s, scope) == type_name)

    def resolve(self, spelling: str, scope: str) -> str:
        """What protoc understands: the innermost scope that knows the first word decides."""
        first = spelling.partition(".")[0]
        while scope:
            if f"{scope}.{first}" in self.symbols:
                return f"{scope}.{spelling}"
            scope = scope.rpartition(".")[0]
        return spelling


def indented(lines) -> list[str]:
    return ["  " + line for line in lines]


def type_names(files: dict[str, dict]) -> set[str]:
    """Full names of every package, message and enum."""
    names: set[str] = set()

    def collect(scope: str, body: dict) -> None:
        names.update(f"{scope}.{name}" for name in body.get("enums", {}))
        for name, inner in body.get("messages", {}).items():
            names.add(f"{scope}.{name}")
            collect(f"{scope}.{name}", inner)

    for table in files.values():
        words = table["package"].split(".")
        names.update(".".join(words[:end]) for end in range(1, len(words) + 1))
        collect(table["package"], table)
    return names


def write(tables: list[pathlib.Path]) -> None:
    """Writes the .proto source of every file in the tables."""
    files = read_tables(tables)
    symbols = type_names(files) | {"google", "google.protobuf"}
    for name, table in files.items():
        path = SOURCES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ProtoText(table, symbols).render())


def source_names() -> list[str]:
    return sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.proto"))


def relocated(text: str) -> str:
    """Generated code with its imports, and the module names it gives its classes, moved below everflow.proto."""
    text = re.sub(r"^from (tensorflow\w*[\w.]*) import", r"from everflow.proto.\1 import", text, flags=re.MULTILINE)
    return re.sub(r"(?<=[(, ])'(tensorflow\w*(?:\.\w+)+_pb2)'", r"'everflow.proto.\1'", text)


def compile_sources() -> None:
    """Replaces the generated code."""
    version = importlib.metadata.version("grpcio-tools")
    if not version.startswith(COMPILER):
        raise SystemExit(f"grpcio-tools {COMPILER}* makes the committed code, this is {version}; see --help")
    names = source_names()
    roots = [PACKAGE / root for root in sorted({name.partition("/")[0] for name in names})]
    with tempfile.TemporaryDirectory() as directory:
        run_protoc(["--python_out", directory, "--grpc_python_out", directory], names)
        for root in roots:
            shutil.rmtree(root, ignore_errors=True)
        for path in sorted(pathlib.Path(directory).rglob("*.py")):
            text = path.read_text()
            if path.name.endswith("_pb2_grpc.py") and "class " not in text:
                continue  # the plugin writes an empty module for a file without services
            target = PACKAGE / path.relative_to(directory)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(relocated(text))
    for root in roots:
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
            (folder / "__init__.py").touch()
    (PACKAGE / "modules.py").write_text(modules_text())


def run_protoc(arguments: list[str], names: list[str]) -> None:
    import grpc_tools
    from grpc_tools import protoc

    builtin = pathlib.Path(grpc_tools.__file__).parent / "_proto"
    if protoc.main(["protoc", f"-I{SOURCES}", f"-I{builtin}", *arguments, *names]):
        raise SystemExit("protoc failed")


def modules_text() -> str:
    """The table behind `from everflow.proto import graph_pb2`: where each module is, by its bare name."""
    places: dict[str, str] = {}
    paths = sorted(PACKAGE.rglob("*_pb2*.py"), key=lambda p: (PACKAGE / "tensorflow" / "core" not in p.parents, p))
    for path in paths:
        places.setdefault(path.stem, ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    lines = [f'    "{name}": "{place}",' for name, place in sorted(places.items())]
    return "\n".join(
        ['"""Where each generated module is, by its bare name. Written by tools/protos.py."""', "", "MODULES = {", *lines, "}", ""]
    )


def check() -> None:
    """Fails with the names of generated modules that are missing, left over or not those of the sources.

    Descriptors are compared rather than text, so that any version of the compiler can do it.
    """
    from google.protobuf import descriptor_pb2

    sys.path.insert(0, str(PACKAGE.parent.parent))
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "descriptors"
        run_protoc(["--descriptor_set_out", str(path)], source_names())
        files = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file
    expected = {module for file in files for module in generated_modules(file)}
    present = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*_pb2*.py")}
    stale = [f"missing: {name}" for name in sorted(expected - present)]
    stale += [f"left over: {name}" for name in sorted(present - expected)]
    stale += [f"differs: {file.name}" for file in files if present.issuperset(generated_modules(file)) and not is_current(file)]
    if (PACKAGE / "modules.py").read_text() != modules_text():
        stale.append("differs: modules.py")
    if stale:
        raise SystemExit("\n".join([*stale, "run: python tools/protos.py compile"]))


def generated_modules(file) -> list[str]:
    stem = file.name.removesuffix(".proto")
    return [f"{stem}_pb2.py", *([f"{stem}_pb2_grpc.py"] if file.service else [])]


def is_current(file) -> bool:
    """Whether the modules of a file say what its freshly compiled descriptor says."""
    from google.protobuf import descriptor_pb2

    message, *stubs = (PACKAGE / name for name in generated_modules(file))
    module = importlib.import_module("everflow.proto." + ".".join(message.relative_to(PACKAGE).with_suffix("").parts))
    made = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    fresh = descriptor_pb2.FileDescriptorProto.FromString(file.SerializeToString())
    for message_type in fresh.message_type:
        clear_json_names(message_type)
    routes = {f"/{file.package}.{service.name}/{rpc.name}" for service in file.service for rpc in service.method}
    served = {route for stub in stubs for route in re.findall(r"'(/[\w.]+/\w+)'", stub.read_text())}
    return made == fresh and routes == served


def clear_json_names(message_type) -> None:
    """Descriptor sets spell out JSON names, generated code leaves them implied."""
    for field in message_type.field:
        field.ClearField("json_name")
    for nested in message_type.nested_type:
        clear_json_names(nested)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("write", help="wire tables -> .proto sources").add_argument("tables", nargs="+", type=pathlib.Path)
    steps.add_parser("compile", help=".proto sources -> Python")
    steps.add_parser("check", help="is the generated code that of the sources?")
    arguments = parser.parse_args()
    if arguments.step == "write":
        write(arguments.tables)
    else:
        {"compile": compile_sources, "check": check}[arguments.step]()


if __name__ == "__main__":
    main()
