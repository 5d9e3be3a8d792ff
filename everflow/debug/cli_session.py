"""A session that opens the debugger's command line before and after its runs."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli import command_parser, screens, ui_factory
from everflow.debug.cli.analyzer import create_analyzer_ui
from everflow.debug.cli.base_ui import BaseUI
from everflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.menus import MAIN_MENU_KEY, MenuItem
from everflow.debug.cli.profile_analyzer import create_profiler_ui
from everflow.debug.cli.readable import numpy_printoptions_from_screen_info
from everflow.debug.cli.rich_text import RichTextLines
from everflow.debug.destinations import FILE
from everflow.debug.dump import DebugDumpDir
from everflow.debug.dump_files import has_inf_or_nan
from everflow.debug.dumping_session import empty_folder
from everflow.debug.run_keys import get_graph_element_name
from everflow.debug.wrapped_sessions import (
    BaseDebugWrapperSession,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)

Filter = Callable[[Any, Any], bool]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are texts, not the end of the program."""

    def error(self, message: str) -> Any:
        raise ValueError(f"{message}\n{self.format_usage()}")


def _run_parser() -> _Parser:
    parser = _Parser(prog="run", description="Run through, with or without debug tensor watching.", add_help=False)
    parser.add_argument("-t", "--times", type=int, default=1, help="How many Session.run() calls to proceed with.")
    parser.add_argument("-n", "--no_debug", action="store_true", help="Run through without debug tensor watching.")
    parser.add_argument("-f", "--till_filter_pass", default="", help="Run until a tensor in the graph passes the specified filter.")
    parser.add_argument(
        "-fenn",
        "--filter_exclude_node_names",
        default="",
        help="When applying the tensor filter, exclude nodes whose names match the regular expression. Applicable only with -f.",
    )
    parser.add_argument("--node_name_filter", default="", help="Regular-expression filter for node names to be watched in the run.")
    parser.add_argument("--op_type_filter", default="", help="Regular-expression filter for op types to be watched in the run.")
    parser.add_argument("--tensor_dtype_filter", default="", help="Regular-expression filter for tensor dtypes to be watched in the run.")
    parser.add_argument("-p", "--profile", action="store_true", help="Run and profile TensorFlow graph execution.")
    return parser


def _info_parser() -> _Parser:
    return _Parser(prog="run_info", description="Display information about this run.", add_help=False)


@internal("debug.wrappers.local_cli_wrapper.LocalCLIDebugWrapperSession")
class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """Asks on the command line what is to be done with runs, and shows there what a run has computed.

    `dump_root` must be new or empty; without it, dumps go to a temporary folder. They are gone when the command line is left.
    """

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ) -> None:
        super().__init__(sess, thread_name_filter=thread_name_filter)
        if dump_root:
            empty_folder(dump_root, "dump_root")
        self._dump_root = dump_root or os.path.join(tempfile.mkdtemp(prefix="tfdbg_"), "dump")
        self._ui_type = ui_type
        self._config_file_path = config_file_path
        self._tensor_filters: dict[str, Filter] = {"has_inf_or_nan": has_inf_or_nan}
        self._is_run_start = True
        # What was asked for the next runs: how many of them are let through before the one that the response is for.
        self._response: Any = None
        self._let_through = 0
        # The filter that a tensor must pass before the command line is opened again, and the nodes that it passes over.
        self._active_filter: str | None = None
        self._excluded_nodes: str | None = None
        self._filter_response: Any = None
        self._fetches: Any = None
        self._feed_dict: Any = None
        self._run_info = RichTextLines([])
        self._run_description = ""
        self._run_cli: Any = None
        self._init_command = ""
        self._title = ""
        self._title_color = "black_on_white"

    def _is_disk_usage_reset_each_run(self) -> bool:
        # What a run has dumped is removed before the next one.
        return True

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """Adds a predicate of a DebugTensorDatum and its tensor, by which tensors can be searched."""
        self._tensor_filters[filter_name] = tensor_filter

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Nothing is done."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def _get_run_debug_urls(self) -> list[str]:
        return [FILE + self._dump_root]

    def _config(self) -> CLIConfig:
        return CLIConfig(config_file_path=self._config_file_path or None)

    # -- runs

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Opens the command line, unless it has been said there before what is to be done with this run."""
        self._is_run_start = True
        self._update_run_calls_state(request.run_call_count, request.fetches, request.feed_dict, request.is_callable_runner)
        if self._active_filter is not None:
            self._response = None
            return self._filter_response
        if self._response is None:
            self._prep_cli_for_run_start()
            self._response = self._answer()
        if self._let_through > 0:
            self._let_through -= 1
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        response, self._response = self._response, None
        return response

    def _answer(self) -> Any:
        answer = self._launch_cli()
        if answer == EXPLICIT_USER_EXIT:
            self._remove_dump_root()
            print("Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr)
            sys.exit(1)
        return answer

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Opens the command line on what was dumped or traced, unless it waits for a filter that nothing passes."""
        self._is_run_start = False
        if request.performed_action == OnRunStartAction.DEBUG_RUN:
            self._show_dump(request)
        elif request.performed_action == OnRunStartAction.PROFILE_RUN:
            self._prep_profile_cli_for_run_end(self._sess.graph, request.run_metadata)
            self._response = self._answer()
        return OnRunEndResponse()

    def _show_dump(self, request: OnRunEndRequest) -> None:
        if request.tf_error is not None and not os.path.isdir(self._dump_root):
            # It went wrong before anything ran.
            raise request.tf_error
        graphs = request.run_metadata.partition_graphs if request.run_metadata is not None else None
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs)
        dump.set_python_graph(self._sess.graph)
        passed, excluded = None, None
        if self._active_filter is not None:
            found = dump.find(self._tensor_filters[self._active_filter], first_n=1, exclude_node_names=self._excluded_nodes)
            if not found and request.tf_error is None:
                self._remove_dump_root()
                return
            passed, excluded = (self._active_filter, self._excluded_nodes) if found else (None, None)
            self._active_filter = self._excluded_nodes = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, passed, excluded)
        self._response = self._answer()
        self._remove_dump_root()

    def _remove_dump_root(self) -> None:
        shutil.rmtree(self._dump_root, ignore_errors=True)

    def _update_run_calls_state(self, run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False) -> None:
        self._fetches, self._feed_dict = fetches, feed_dict
        self._run_description = screens.get_run_short_description(run_call_count, fetches, feed_dict, is_callable_runner)
        self._run_info = screens.get_run_start_intro(run_call_count, fetches, feed_dict, self._tensor_filters, is_callable_runner)

    # -- the command line

    def _prep_cli_for_run_start(self) -> None:
        self._run_cli = ui_factory.get_ui(self._ui_type, config=self._config())
        help_intro = RichTextLines([])
        if self._run_call_count == 1:
            help_intro.extend(screens.get_tfdbg_logo())
        help_intro.extend(self._run_info)
        self._run_cli.set_help_intro(help_intro)
        self._init_command = "run_info"
        self._title = f"run-start: {self._run_description}"
        self._title_color = "blue_on_white"

    def _prep_debug_cli_for_run_end(
        self, debug_dump: DebugDumpDir, tf_error: Any, passed_filter: str | None, passed_filter_exclude_node_names: str | None
    ) -> None:
        help_intro = None
        if tf_error is not None:
            help_intro = screens.get_error_intro(tf_error)
            self._init_command = "help"
            self._title_color = "red_on_white"
        else:
            self._init_command = "lt"
            self._title_color = "black_on_white"
            if passed_filter is not None:
                self._init_command = f"lt -f {passed_filter}"
                if passed_filter_exclude_node_names:
                    self._init_command += f" --filter_exclude_node_names {passed_filter_exclude_node_names}"
                self._title_color = "red_on_white"
        self._run_cli = create_analyzer_ui(
            debug_dump, self._tensor_filters, ui_type=self._ui_type, on_ui_exit=self._remove_dump_root, config=self._config()
        )
        names = [datum.tensor_name for datum in debug_dump.dumped_tensor_data]
        self._run_cli.register_tab_comp_context(["print_tensor", "pt"], sorted(set(names)))
        if help_intro is not None:
            self._run_cli.set_help_intro(help_intro)
        self._title = f"run-end: {self._run_description}"

    def _prep_profile_cli_for_run_end(self, py_graph: Any, run_metadata: Any) -> None:
        self._init_command = "lp"
        self._run_cli = create_profiler_ui(py_graph, run_metadata, ui_type=self._ui_type, config=self._config())
        self._title = f"run-end (profiler mode): {self._run_description}"
        self._title_color = "black_on_white"

    def _launch_cli(self) -> Any:
        self._register_this_run_info(self._run_cli)
        return self._run_cli.run_ui(init_command=self._init_command, title=self._title, title_color=self._title_color)

    def _register_this_run_info(self, curses_cli: BaseUI) -> None:
        """Adds the commands that go on with runs and tell about them."""
        run, info = _run_parser(), _info_parser()
        curses_cli.register_command_handler("run", self._run_handler, run.format_help(), prefix_aliases=["r"])
        curses_cli.register_command_handler("run_info", self._run_info_handler, info.format_help(), prefix_aliases=["ri"])
        feed = command_parser.get_print_tensor_argparser("Print the value of a feed in feed_dict.")
        curses_cli.register_command_handler("print_feed", self._print_feed_handler, feed.format_help(), prefix_aliases=["pf"])
        if self._tensor_filters:
            curses_cli.register_tab_comp_context(["run", "r"], ["-n", "--no_debug", "-t", "-f", *sorted(self._tensor_filters)])
        if self._feed_dict and hasattr(self._feed_dict, "keys"):
            curses_cli.register_tab_comp_context(["print_feed", "pf"], [get_graph_element_name(key) for key in self._feed_dict])

    def _run_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The command `run`: leaves the command line with what is to be done next."""
        try:
            parsed = _run_parser().parse_args(args)
        except ValueError as problem:
            return screens.error(str(problem))
        name = parsed.till_filter_pass
        if parsed.filter_exclude_node_names and not name:
            return screens.error("The flag --filter_exclude_node_names is valid only if the flag -f or --till_filter_pass is used.")
        if name and name not in self._tensor_filters:
            return screens.error(f"There is no tensor filter named '{name}'.")
        self._let_through = max(parsed.times, 1) - 1
        self._active_filter = None
        action = OnRunStartAction.DEBUG_RUN
        if parsed.no_debug:
            action = OnRunStartAction.NON_DEBUG_RUN
        elif parsed.profile:
            action = OnRunStartAction.PROFILE_RUN
        response = OnRunStartResponse(
            action,
            self._get_run_debug_urls() if action == OnRunStartAction.DEBUG_RUN else [],
            node_name_regex_whitelist=parsed.node_name_filter or None,
            op_type_regex_whitelist=parsed.op_type_filter or None,
            tensor_dtype_regex_whitelist=parsed.tensor_dtype_filter or None,
        )
        if name and action == OnRunStartAction.DEBUG_RUN:
            self._active_filter = name
            self._excluded_nodes = parsed.filter_exclude_node_names or None
            self._filter_response = response
        raise CommandLineExit(exit_token=response)

    def _run_info_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The command `run_info`: what this run fetches and is fed."""
        output = RichTextLines([])
        if self._run_call_count == 1:
            output.extend(screens.get_tfdbg_logo())
        output.extend(self._run_info)
        menu = output.annotations.get(MAIN_MENU_KEY)
        if menu is not None and not self._is_run_start and "list_tensors" not in menu.captions():
            menu.insert(0, MenuItem("list_tensors", "list_tensors"))
        return output

    def _print_feed_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The command `print_feed`: what was fed for a tensor."""
        if not self._feed_dict:
            return screens.error("The feed_dict of the current run is None or empty.")
        parsed = command_parser.get_print_tensor_argparser("").parse_args(args)
        name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        for key, value in self._feed_dict.items():
            if get_graph_element_name(key) == name:
                return screens.format_tensor(
                    value,
                    f"{name} (feed)",
                    numpy_printoptions_from_screen_info(screen_info),
                    print_all=parsed.print_all,
                    tensor_slicing=slicing,
                    highlight_options=screens.parse_ranges_highlight(parsed.ranges),
                    include_numeric_summary=parsed.numeric_summary,
                )
        return screens.error(f"The feed_dict of the current run does not contain the key {name}")
