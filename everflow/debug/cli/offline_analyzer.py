"""Looks at the dump of a run that is over: `everflow tfdbg --dump_root FOLDER`."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

from everflow.api import internal
from everflow.debug.cli.analyzer import create_analyzer_ui
from everflow.debug.cli.ui_factory import SUPPORTED_UI_TYPES
from everflow.debug.dump import DebugDumpDir
from everflow.debug.dump_files import has_inf_or_nan
from everflow.tools.graph_files import add_flag

internal("debug.cli.offline_analyzer")(sys.modules[__name__])


def command(arguments: list[str], prog: str = "offline_analyzer") -> int:
    """Opens the analyzer on a dump; returns the exit status."""
    parser = argparse.ArgumentParser(prog=prog, description="Look at the tensors that a run dumped (docs/debugger.md).")
    parser.add_argument("--dump_root", "--dump_dir", default="", metavar="FOLDER", help="the folder that the run was dumped to")
    parser.add_argument("--ui_type", default="curses", choices=SUPPORTED_UI_TYPES, help="a whole screen, or a plain prompt")
    add_flag(parser, "--validate_graph", True, "whether the dumps are compared with the graph that was run")
    add_flag(parser, "--log_usage", True, "has no effect")
    given = parser.parse_args(arguments)
    try:
        ui = open_dump(given.dump_root, given.ui_type, given.validate_graph)
    except (OSError, ValueError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    ui.run_ui(
        init_command="lt",
        title=f"tfdbg offline @ {given.dump_root}",
        title_color="black_on_white",
        enable_mouse_on_start=ui.config.get("mouse_mode"),
    )
    return 0


def open_dump(dump_root: str, ui_type: str, validate: bool = True) -> Any:
    """The user interface for a dump."""
    if not dump_root:
        raise ValueError("give the folder of a dump (--dump_root)")
    dump = DebugDumpDir(dump_root, validate=validate)
    if not dump.devices():
        runs = sorted(path.parent for path in pathlib.Path(dump_root).glob("*/_tfdbg_device_*"))
        hint = f"; the dumps below it are: {', '.join(map(str, dict.fromkeys(runs)))}" if runs else ""
        raise ValueError(f"{dump_root} holds no dump of a run{hint}")
    return create_analyzer_ui(dump, tensor_filters={"has_inf_or_nan": has_inf_or_nan}, ui_type=ui_type)


def main(_: Any = None) -> int:
    """What runs when TensorFlow's module of this name is run."""
    return command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
