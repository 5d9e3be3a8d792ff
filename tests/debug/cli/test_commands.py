"""Commands by their names, what completes them, and those given before."""

import pytest

from everflow.debug.cli.commands import CommandHandlerRegistry, CommandLineExit
from everflow.debug.cli.completion import TabCompletionRegistry
from everflow.debug.cli.history import CommandHistory
from everflow.debug.cli.rich_text import RichTextLines


def echo(argv, screen_info=None):
    return RichTextLines([*argv, str(screen_info)])


@pytest.fixture
def registry():
    registry = CommandHandlerRegistry()
    registry.register_command_handler("echo", echo, "Say it\nagain.", prefix_aliases=["e"])
    return registry


def test_a_command_is_found_by_its_name_and_its_aliases(registry):
    assert registry.dispatch_command("e", ["a"], screen_info={"cols": 9}).lines == ["a", "{'cols': 9}"]
    assert registry.is_registered("echo") and not registry.is_registered("ech")
    with pytest.raises(ValueError, match='No handler is registered for command prefix "ech"'):
        registry.dispatch_command("ech", [])


def test_names_are_given_once(registry):
    with pytest.raises(ValueError, match='already registered for command prefix "echo"'):
        registry.register_command_handler("echo", echo, "")
    with pytest.raises(ValueError, match='"h" clashes with existing prefixes or aliases'):
        registry.register_command_handler("hint", echo, "", prefix_aliases=["h"])
    assert not registry.is_registered("hint")


def test_what_goes_wrong_in_a_handler_is_shown(registry):
    def fail(argv, screen_info=None):
        raise {"x": RuntimeError("boom"), "q": SystemExit(2), "e": CommandLineExit("bye")}[argv[0]]

    registry.register_command_handler("fail", fail, "")
    lines = registry.dispatch_command("fail", ["x"]).lines
    assert lines[:2] == ["Error occurred during handling of command: fail x:", "<class 'RuntimeError'>: boom"]
    assert lines[-2] == "RuntimeError: boom"
    assert registry.dispatch_command("fail", ["q"]).lines == ["Syntax error for command: fail", 'For help, do "help fail"']
    with pytest.raises(CommandLineExit) as left:
        registry.dispatch_command("fail", ["e"])
    assert left.value.exit_token == "bye"


def test_handlers_return_texts(registry):
    registry.register_command_handler("none", lambda argv, screen_info=None: None, "")
    registry.register_command_handler("word", lambda argv, screen_info=None: "word", "")
    assert registry.dispatch_command("none", []) is None
    with pytest.raises(ValueError, match="is not None or a RichTextLines instance"):
        registry.dispatch_command("word", [])


def test_help_goes_through_the_commands_in_alphabetical_order(registry):
    registry.set_help_intro(RichTextLines(["Welcome."]))
    lines = registry.dispatch_command("help", []).lines
    assert lines[:8] == ["Welcome.", "echo", "  Aliases: e", "", "  Say it", "  again.", "", ""]
    assert [line for line in lines if line and not line.startswith(" ")] == ["Welcome.", "echo", "help", "version"]
    assert registry.dispatch_command("h", ["e"]).lines == ["echo", "  Aliases: e", "", "  Say it", "  again."]
    assert registry.dispatch_command("h", ["no"]).lines == ['Invalid command prefix: "no"']


def test_completion_knows_what_follows_each_command():
    words = TabCompletionRegistry()
    words.register_tab_comp_context(["print", "p"], ["node_b:0", "node_a:0", "x"])
    assert words.get_completions("p", "node_") == (["node_a:0", "node_b:0"], "node_")
    assert words.get_completions("p", "node_a") == (["node_a:0"], "node_a:0")
    assert words.get_completions("p", "y") == ([], "")
    assert words.get_completions("q", "") == (None, None)
    words.extend_comp_items("print", ["node_A:0"])
    words.remove_comp_items("p", ["x"])
    assert words.get_completions("p", "")[0] == ["node_A:0", "node_a:0", "node_b:0"]
    words.deregister_context(["p"])
    assert words.get_completions("print", "")[1] == "node_"
    with pytest.raises(KeyError, match='Cannot deregister unregistered context word \\\\?"p'):
        words.deregister_context(["p"])


def test_history_is_kept_in_a_file_as_far_as_its_limit(tmp_path):
    path = tmp_path / "history"
    history = CommandHistory(limit=2, history_file_path=str(path))
    for command in ("lt", "pt a", "pt a", "ni b"):
        history.add_command(command)
    assert history.most_recent_n(5) == ["pt a", "ni b"]
    assert path.read_text() == "lt\npt a\nni b\n"
    again = CommandHistory(limit=2, history_file_path=str(path))
    assert (again.lookup_prefix("pt", 5), path.read_text()) == (["pt a"], "pt a\nni b\n")
    with pytest.raises(TypeError, match="non-str entry"):
        again.add_command(["lt"])


def test_history_does_without_a_file(tmp_path):
    history = CommandHistory(history_file_path=str(tmp_path / "no" / "such" / "folder"))
    history.add_command("lt")
    assert history.most_recent_n(1) == ["lt"]
