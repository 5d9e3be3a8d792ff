"""`everflow serve`: models over gRPC and REST; and the same program under the name and with the flags of TensorFlow Serving's."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import Any

EPILOG = """
A FOLDER holds one subfolder a version, named by a number (models/price/1, models/price/2), or is a SavedModel itself. New
versions that appear while it is served are loaded, and replace the old ones without a request being lost.

examples:
  everflow serve models/price
  everflow serve models/price models/name --batching
  curl -d '{"instances": [1.0, 2.0]}' http://localhost:8501/v1/models/price:predict
  everflow serve models/price -- --max_num_load_retries=0      (any flag of tensorflow_model_server)
"""


def _missing(error: ImportError) -> int:
    print(f"everflow: serving needs {error.name}, which is not installed: pip install 'everflow[serve]'", file=sys.stderr)
    return 1


def tensorflow_model_server(arguments: list[str] | None = None) -> int:
    """The console script of that name."""
    try:
        from everflow.serving.server import main
    except ImportError as e:
        return _missing(e)
    return main(arguments)


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="everflow serve",
        description="Serve SavedModels over gRPC and REST, with a page to look at.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="where a model is; it is named after its folder")
    parser.add_argument("--name", help="another name, for a single model")
    parser.add_argument("--port", type=int, default=8500, help="port for gRPC (%(default)s)")
    parser.add_argument("--rest-port", type=int, default=8501, help="port for REST and the page (%(default)s)")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on (%(default)s)")
    parser.add_argument("--batching", action="store_true", help="join requests that arrive at the same time into one run")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share the ports (%(default)s)")
    parser.add_argument("--no-console", action="store_true", help="no page at /")
    parser.add_argument("--verbose", action="store_true", help="show what is loaded and unloaded")
    own, _, rest = _split(arguments)
    told = parser.parse_args(own)
    if told.name and len(told.folders) > 1:
        parser.error("--name is for a single model")
    try:
        from everflow.serving import flags, server
    except ImportError as e:
        return _missing(e)
    given = [
        f"--port={told.port}", f"--rest_api_port={told.rest_port}", f"--host={told.host}", f"--workers={told.workers}",
        f"--enable_batching={told.batching}", f"--console={not told.no_console}", *rest,
    ]  # fmt: skip
    try:
        options = flags.parse(given, sys.stderr)
    except flags.BadValue as e:
        parser.error(str(e))
    with tempfile.TemporaryDirectory(prefix="everflow-serve-") as scratch:
        models = {}
        for folder in told.folders:
            if not os.path.isdir(folder) and "://" not in folder:
                parser.error(f"there is no folder {folder}")
            name, base = _base_path(folder, scratch)
            models[told.name or name] = base
        if len(models) < len(told.folders):
            parser.error("two models would have the same name")
        options.model_config_file = _config_file(models, scratch)
        server.log_to_stderr("INFO" if told.verbose else "WARNING")
        return server.run(options, started=None if options.workers > 1 else _announce)


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    if "--" not in arguments:
        return arguments, "", []
    at = arguments.index("--")
    return arguments[:at], "--", arguments[at + 1 :]


def _base_path(folder: str, scratch: str) -> tuple[str, str]:
    """(name, base path) of what a user calls a model: a folder of versions, or one version of it."""
    if "://" in folder:
        return folder.rstrip("/").rsplit("/", 1)[-1], folder
    folder = os.path.abspath(folder)
    name = os.path.basename(folder)
    if not any(os.path.exists(os.path.join(folder, file)) for file in ("saved_model.pb", "saved_model.pbtxt", "export.meta")):
        return name, folder
    number = "1"
    if name.isdigit():
        name, number = os.path.basename(os.path.dirname(folder)) or "default", name
    base = os.path.join(scratch, name)
    os.makedirs(base)
    os.symlink(folder, os.path.join(base, number))
    return name, base


def _config_file(models: dict[str, str], scratch: str) -> str:
    from google.protobuf import text_format

    from everflow.proto import model_server_config_pb2

    config = model_server_config_pb2.ModelServerConfig()
    for name, base in models.items():
        config.model_config_list.config.add(name=name, base_path=base, model_platform="tensorflow")
    path = os.path.join(scratch, "models.config")
    with open(path, "w") as file:
        file.write(text_format.MessageToString(config))
    return path


def _announce(server: Any) -> None:
    host = server.options.host if server.options.host != "0.0.0.0" else "localhost"
    for name in server.catalog.models:
        (version, *_) = [v for v in server.catalog.manager.versions(name) if v.state.name == "AVAILABLE"]
        print(f"{name} (version {version.id.version})", flush=True)
        if server.rest_port:
            print(f"  REST     http://{host}:{server.rest_port}/v1/models/{name}:predict", flush=True)
        if server.port:
            print(f"  gRPC     {host}:{server.port}, model_spec.name {name}", flush=True)
    if server.rest_port and server.options.console:
        print(f"console    http://{host}:{server.rest_port}/", flush=True)
