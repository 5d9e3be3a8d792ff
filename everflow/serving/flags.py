"""The flags of tensorflow_model_server."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, TextIO


class Flag(NamedTuple):
    """A flag: its default, whose type is its own, and what --help says."""

    default: Any
    help: str


FLAGS = {
    "port": Flag(8500, "Port to listen on for gRPC; 0 for none"),
    "grpc_socket_path": Flag("", "If not empty, listen for gRPC on this Unix socket too"),
    "rest_api_port": Flag(0, "Port to listen on for HTTP/REST; 0 for none. It must differ from --port"),
    "rest_api_num_threads": Flag(0, "Threads for inferences that take long; by the number of processors if 0"),
    "rest_api_timeout_in_ms": Flag(30000, "How long a REST request may take"),
    "enable_batching": Flag(False, "Join requests that arrive at the same time into one run"),
    "allow_version_labels_for_unavailable_models": Flag(False, "Let labels stand for versions that are not loaded yet"),
    "batching_parameters_file": Flag("", "A BatchingParameters message in text format"),
    "model_config_file": Flag("", "A ModelServerConfig message in text format: several models, version policies, labels"),
    "model_config_file_poll_wait_seconds": Flag(0, "How often to look at the model_config_file for changes; 0 for never"),
    "model_name": Flag("default", "Name of the model, where there is no model_config_file"),
    "model_base_path": Flag("", "Folder of the model, where there is no model_config_file"),
    "max_num_load_retries": Flag(5, "How often to try again to load a version after it failed"),
    "load_retry_interval_micros": Flag(60_000_000, "How long to wait before that"),
    "file_system_poll_wait_seconds": Flag(1, "How often to look for new versions; 0 for once, negative for never"),
    "flush_filesystem_caches": Flag(True, "Tell the system that files of models are not needed in memory once they are loaded"),
    "tensorflow_session_parallelism": Flag(0, "Threads for a session's run; by the machine if 0"),
    "tensorflow_intra_op_parallelism": Flag(0, "Threads for one op; by the machine if 0"),
    "tensorflow_inter_op_parallelism": Flag(0, "Ops that run at the same time; by the machine if 0"),
    "ssl_config_file": Flag("", "An SSLConfig message in text format, for a secure gRPC port"),
    "platform_config_file": Flag("", "A PlatformConfigMap message in text format, instead of the flags about sessions and batching"),
    "per_process_gpu_memory_fraction": Flag(0.0, "How much of a GPU's memory to use, from 0 to 1; 0 leaves it open"),
    "saved_model_tags": Flag("serve", "Tags of the graph to load from a SavedModel, comma separated"),
    "grpc_channel_arguments": Flag("", "Arguments for the gRPC server, comma separated (grpc.max_connection_age_ms=2000)"),
    "custom_op_libraries": Flag("", "Libraries of ops in C++ that models use, comma separated"),
    "enable_model_warmup": Flag(True, "Answer a model's warm-up requests before it serves"),
    "version": Flag(False, "Show the version"),
    "monitoring_config_file": Flag("", "A MonitoringConfig message in text format"),
    "remove_unused_fields_from_bundle_metagraph": Flag(True, "Accepted; graphs are not kept as messages here"),
    "use_tflite_model": Flag(False, "Refused: TensorFlow Lite models are not served"),
    "host": Flag("0.0.0.0", "Address to listen on"),
    "workers": Flag(1, "Processes that share the ports"),
    "console": Flag(True, "Show a page about the models at / on the REST port"),
}


class Options:
    """The values of all flags, as attributes."""

    # `everflow serve` sets it to a file that it writes.
    model_config_file: str

    def __init__(self, **values: Any) -> None:
        for name, flag in FLAGS.items():
            setattr(self, name, values.pop(name, flag.default))
        if values:
            raise TypeError(f"there is no flag {next(iter(values))}")

    def as_arguments(self) -> list[str]:
        """The command line that gives these options."""
        return [f"--{name}={getattr(self, name)}" for name, flag in FLAGS.items() if getattr(self, name) != flag.default]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class BadValue(ValueError):
    """A flag was given what it can't be."""


def parse(arguments: list[str], out: TextIO = sys.stdout) -> Options:
    """The options that a command line gives. A flag that nobody knows is reported, and passed over."""
    values: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, has_value, text = argument.lstrip("-").partition("=")
        negated = name.startswith("no") and name[2:] in FLAGS and isinstance(FLAGS[name[2:]].default, bool)
        if not argument.startswith("-") or (name not in FLAGS and not negated):
            print(f"unknown argument: {argument}", file=out, flush=True)
            continue
        if negated and not has_value:
            values[name[2:]] = False
            continue
        default = FLAGS[name].default
        if not has_value and not isinstance(default, bool) and rest and not rest[0].startswith("--"):
            has_value, text = "=", rest.pop(0)
        values[name] = _converted(name, text if has_value else None, default)
    return Options(**values)


def _converted(name: str, text: str | None, default: Any) -> Any:
    if isinstance(default, bool):
        if text is None or text.lower() in ("true", "1", "t", "yes"):
            return True
        if text.lower() in ("false", "0", "f", "no"):
            return False
        raise BadValue(f"Couldn't interpret value {text} for flag {name}.")
    if text is None:
        raise BadValue(f"Flag {name} needs a value: --{name}={default}")
    try:
        return type(default)(text)
    except ValueError:
        raise BadValue(f"Couldn't interpret value {text} for flag {name}.") from None


def help_text(program: str) -> str:
    """What --help shows."""
    lines = [f"usage: {program} [flags]", "", "Flags:"]
    for name, flag in FLAGS.items():
        kind = {bool: "bool", int: "int", float: "float", str: "string"}[type(flag.default)]
        shown = (
            str(flag.default).lower()
            if isinstance(flag.default, bool)
            else f'"{flag.default}"'
            if isinstance(flag.default, str)
            else flag.default
        )
        lines.append(f"\t--{name}={shown}\t{kind}\t{flag.help}")
    return "\n".join(lines)
