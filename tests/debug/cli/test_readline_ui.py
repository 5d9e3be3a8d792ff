"""The debugger at a plain prompt."""

import builtins

import pytest

from everflow.debug.cli import ui_factory
from everflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.readline_ui import ReadlineUI
from everflow.debug.cli.rich_text import RichTextLines


@pytest.fixture
def ui(tmp_path):
    ui = ReadlineUI(config=CLIConfig(str(tmp_path / "config")))

    def leave(argv, screen_info=None):
        raise CommandLineExit("token")

    ui.register_command_handler("echo", lambda argv, screen_info=None: RichTextLines(argv or ["nothing"]), "Echo.", ["e"])
    ui.register_command_handler("leave", leave, "Leave.")
    ui.register_tab_comp_context(["echo", "e"], ["node_a:0", "node_b:0"])
    return ui


def run(ui, monkeypatch, *commands, **options):
    """What the interface returns, after some commands and the end of input."""
    lines = iter(commands)

    def read(prompt):
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(builtins, "input", read)
    return ui.run_ui(**options)


def test_commands_are_answered_until_one_leaves(ui, monkeypatch, capsys):
    assert run(ui, monkeypatch, "e 'a b'", "wobble", "", "leave", "e never", init_command="echo first", title="Title") == "token"
    assert capsys.readouterr().out.splitlines() == [
        "Title",
        "first",
        "a b",
        'ERROR: Invalid command prefix "wobble"',
        'ERROR: Invalid command prefix ""',
    ]


def test_exit_and_the_end_of_input_leave(ui, monkeypatch):
    assert run(ui, monkeypatch, "exit", "leave") == run(ui, monkeypatch) == EXPLICIT_USER_EXIT


def test_output_is_written_to_a_file(ui, monkeypatch, capsys, tmp_path):
    path = tmp_path / "out"
    run(ui, monkeypatch, f"e word > {path}", "e word >", f"e word > {tmp_path}/no/such/file")
    assert path.read_text() == "word\n"
    printed = capsys.readouterr().out
    assert f"INFO: Wrote output to {path}" in printed and "ERROR: Redirect file path is empty" in printed
    assert f"ERROR: Failed to write output to {tmp_path}/no/such/file" in printed


def test_the_tab_key_completes_commands_and_what_follows_them(ui):
    def all_of(text):
        return [found for state in range(9) if (found := ui._readline_complete(text, state))]

    assert all_of("e") == ["e", "echo", "exit"]
    assert all_of("e x node_") == ["e x node_a:0", "e x node_b:0"]
    assert all_of("leave node_") == []


def test_settings_are_shown_and_changed(ui, monkeypatch, capsys):
    run(ui, monkeypatch, "config set graph_recursion_depth 5", "cfg")
    assert capsys.readouterr().out.count("  graph_recursion_depth: 5") == 2


def test_the_interface_is_chosen_by_its_type(tmp_path):
    config = CLIConfig(str(tmp_path / "config"))
    assert isinstance(ui_factory.get_ui("readline", config=config), ReadlineUI)
    # Tests have no terminal for a whole screen.
    assert isinstance(ui_factory.get_ui("curses", config=config), ReadlineUI)
    with pytest.raises(ValueError, match="Invalid ui_type: 'readline'"):
        ui_factory.get_ui("readline", available_ui_types=["curses"], config=config)
