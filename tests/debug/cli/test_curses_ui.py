"""The debugger's screen: what it shows after which keys and clicks. The terminal below it is one of the tests' own."""

import curses

import numpy as np
import pytest

from everflow.debug.cli.commands import EXPLICIT_USER_EXIT
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.curses_ui import CursesUI, ScrollBar
from everflow.debug.cli.curses_widgets import CursesNavigationHistory
from everflow.debug.cli.history import CommandHistory
from everflow.debug.cli.menus import MAIN_MENU_KEY, Menu, MenuItem
from everflow.debug.cli.rich_text import INIT_SCROLL_POS_KEY, RichTextLines
from everflow.debug.cli.tensor_format import format_tensor

UP, DOWN, PAGE_DOWN, PAGE_UP, END, HOME = (
    curses.KEY_UP,
    curses.KEY_DOWN,
    curses.KEY_NPAGE,
    curses.KEY_PPAGE,
    curses.KEY_END,
    curses.KEY_HOME,
)


class Click(tuple):
    """A click at (x, y)."""


class Screen(CursesUI):
    """Draws into a list of strings, and takes its keys from a script. `seen` has the screen before each key that ends a line."""

    def __init__(self, tmp_path, keys, height=20, width=60):
        super().__init__(config=CLIConfig(str(tmp_path / "config")))
        self._command_history_store = CommandHistory(history_file_path=str(tmp_path / f"history{len(list(tmp_path.iterdir()))}"))
        self._keys, self._size, self._clicked = iter(keys), (height, width), None
        self.rows, self.seen = [" " * width] * height, []

    def _screen_init(self):
        pass

    def _screen_refresh_size(self):
        self._max_y, self._max_x = self._size

    def _screen_launch(self, enable_mouse_on_start):
        self._mouse_enabled = enable_mouse_on_start

    def _screen_terminate(self):
        self.ended = True

    def _screen_refresh(self):
        pass

    def _screen_create_command_window(self):
        pass

    def _screen_create_command_textbox(self, existing_command=None):
        self.typed = existing_command

    def _screen_new_output_pad(self, rows, cols):
        return [" " * cols for _ in range(rows)]

    def _screen_add_line_to_output_pad(self, pad, row, txt, color_segments=None):
        pad[row] = txt.ljust(len(pad[row]))

    def _put(self, row, column, text):
        self.rows[row] = (self.rows[row][:column] + text + self.rows[row][column + len(text) :])[: self._max_x]

    def _screen_draw_text_line(self, row, line, attr=curses.A_NORMAL, color=None):
        self._put(row, 0, line)

    def _screen_scroll_output_pad(self, pad, viewport_top, viewport_left, top, left, bottom, right):
        for row in range(top, min(bottom, len(self.rows) - 1) + 1):
            self._put(row, left, pad[viewport_top + row - top][viewport_left : viewport_left + right - left])

    def _screen_getmouse(self):
        return (0, *self._clicked, 0, curses.BUTTON1_CLICKED)

    def _screen_get_user_command(self):
        for key in self._keys:
            if isinstance(key, Click):
                self._clicked, key = key, curses.KEY_MOUSE
            if isinstance(key, tuple):
                self._size, key = key, curses.KEY_RESIZE
            code = self._on_textbox_keypress(key)
            if code == self.CLI_TERMINATOR_KEY:
                self.seen.append(list(self.rows))
                return self.typed
            if code == curses.KEY_BACKSPACE:
                self.typed = self.typed[:-1]
            elif 32 <= code < 127:
                self.typed += chr(code)
        raise AssertionError("the script has ended, and nothing left the screen")

    def output(self):
        """What stands between the bars."""
        return [row.rstrip() for row in self.rows[self._output_top_row : self._output_scroll_row]]


def typed(text):
    return [ord(character) for character in text]


@pytest.fixture
def show(tmp_path):
    """Runs a screen with a script of keys, then leaves; returns the screen."""

    def babble(argv, screen_info=None):
        count = int(argv[0]) if argv else 30
        text = RichTextLines([f"line {number}" for number in range(count)], {0: [(0, 6, MenuItem(None, "babble 3"))]})
        if "menu" in argv:
            text.annotations[MAIN_MENU_KEY] = Menu()
            text.annotations[MAIN_MENU_KEY].append(MenuItem("more", "babble 7"))
        if "low" in argv:
            text.annotations[INIT_SCROLL_POS_KEY] = 9
        return text

    def run(*keys, height=20, width=60, **options):
        script = [code for key in keys for code in (typed(key) if isinstance(key, str) else [key])]
        screen = Screen(tmp_path, [*script, *typed("exit\n")], height, width)
        screen.register_command_handler("babble", babble, "Babble some lines.", prefix_aliases=["b"])
        screen.register_command_handler("ones", lambda argv, screen_info=None: format_tensor(np.ones([9, 9]), "m"), "Ones.")
        screen.register_tab_comp_context(["babble", "b"], ["10", "12"])
        assert screen.run_ui(**options) == EXPLICIT_USER_EXIT and screen.ended
        # The last key is the return after `exit`; what comes after is its answer.
        screen.rows = screen.seen[-1]
        return screen

    return run


def test_output_stands_between_the_bars(show):
    screen = show("babble 3\n", title="A title")
    assert screen.rows[0] == "--- A title ".ljust(60, "-")
    assert screen.rows[1].rstrip() == "| <-- --> | babble 3"
    assert screen.output()[:4] == ["line 0", "line 1", "line 2", ""]
    assert screen.rows[17] == "--- Scroll (PgDn): 0.00% " + "-" * 21 + " Mouse: ON ---"


def test_keys_scroll_to_both_ends(show):
    assert show("b\n", PAGE_DOWN, PAGE_DOWN, PAGE_UP).output()[:2] == ["line 1", "line 2"]
    bottom = show("b\n", END, PAGE_DOWN)
    assert bottom.output()[:2] == ["line 29", ""] and " Scroll (PgUp): 100.00% " in bottom.rows[17]
    assert show("b\n", END, HOME, PAGE_UP).output()[0] == "line 0"
    assert show("b 20 low\n").output()[0] == "line 9"


def test_long_lines_are_wrapped_and_long_outputs_cut(show):
    assert show("nonsense and more\n", width=20).output()[:3] == ["ERROR: Invalid com", 'mand prefix "nonse', 'nse"']
    screen = show("b 20000\n", END)
    assert screen.output()[0] == "Output cut off at 10000 lines!"


def test_a_search_goes_from_match_to_match(show):
    rows = [show("b\n", "/2$\n", *["/\n"] * more).output()[0] for more in range(3)]
    assert rows == ["line 2", "line 12", "line 22"]
    assert show("b\n", "/2$\n", "/\n", "/\n", "/\n").rows[16].startswith("Pattern not found")
    assert show("b\n", "/[\n").rows[16].startswith('ERROR: Invalid regular expression: "["')


def test_elements_of_tensors_are_gone_to(show):
    with np.printoptions():
        screen = show("ones\n", "@[3, 1]\n", height=14)
        assert "[3,0]" in screen.output()[0] and " [3,0]-[8,0] " not in screen.rows[11] and " [3,0]-" in screen.rows[11]
        assert show("ones\n", "@9,9\n").rows[16].startswith("ERROR: Indices exceed tensor dimensions.")
        assert show("b 2\n", "@1\n").rows[16].startswith("ERROR: tensor_metadata is not available")


def test_the_history_of_commands_is_gone_through_by_what_was_typed(show):
    assert show("b 2\n", "help\n", "b 3\n", UP, "\n").output()[:3] == ["line 0", "line 1", "line 2"]
    assert show("b 2\n", "help\n", "b 3\n", "b", UP, UP, UP, "\n").output()[1:3] == ["line 1", ""]
    assert show("b 2\n", "b 3\n", UP, UP, DOWN, "\n").output()[2] == "line 2"


def test_the_tab_key_completes_or_shows_the_choice(show):
    assert show("bab\t", " 12\n").output()[11] == "line 11"
    screen = show("babble 1\t", "0\n", "b 1\t", "2\n")
    assert any("Candidates: 10 12" in row for row in screen.seen[1])
    assert screen.output()[11] == "line 11"


def test_screens_are_gone_back_to_where_they_were_left(show):
    screen = show("b 9\n", PAGE_DOWN, "b 2\n", "prev\n")
    assert screen.output()[0] == "line 1" and screen.rows[1].startswith("| <-- --> | (-1) b 9")
    assert show("b 9\n", "b 2\n", "prev\n", "next\n").output()[:3] == ["line 0", "line 1", ""]
    assert show("b 9\n", "prev\n").rows[16].startswith("At the OLDEST in navigation history!")


def test_clicks_follow_links_menus_arrows_and_the_scroll_bar(show):
    assert show("b 5\n", Click((2, 2))).output()[2:4] == ["line 2", ""]
    assert show("b 5 menu\n", Click((3, 2))).output()[6] == "line 6"
    assert show("b 5\n", "b 2\n", Click((3, 1))).output()[4] == "line 4"
    assert show("b 5\n", Click((30, 8))).output()[4] == "line 4"
    # DN is in the last row of the bar; a click between it and the block moves by a third of a page.
    assert show("b\n", Click((59, 16))).output()[0].startswith("line 1")
    assert show("b\n", Click((59, 12))).output()[0].startswith("line 4")
    assert show("b 5\n", "mouse off\n", Click((2, 2))).output()[4] == "line 4"


def test_a_resized_terminal_is_drawn_again_and_keeps_what_was_typed(show):
    screen = show("b\n", PAGE_DOWN, "b", (12, 40), " 2\n")
    assert screen.seen[1][9].startswith("--- Scroll (PgDn/PgUp): ") and screen.seen[1][2].startswith("line 1")
    assert screen.output()[:3] == ["line 0", "line 1", ""]


def test_errors_in_commands_leave_the_screen_in_order(show, capsys):
    assert show("help a b\n").output()[0] == "ERROR: help takes only 0 or 1 input argument."
    assert show("config paint\n").output()[:2] == ["Syntax error for command: config", 'For help, do "help config"']
    assert capsys.readouterr().err == ""


def test_a_scroll_bar_is_as_high_as_it_must_be_and_shows_where_one_is():
    bar = ScrollBar(0, 5, 1, 12, 10, 20)
    assert bar.layout().lines == ["UP", *["  "] * 6, "DN"] and sorted(bar.layout().font_attr_segs) == [0, 3, 7]
    assert [bar.get_click_command(row) for row in (4, 5, 7, 8, 9, 12)] == [None, "up_a_line", "up", None, "down", "down_a_line"]
    assert ScrollBar(0, 0, 1, 7, 0, 1).get_click_command(3) is None
    with pytest.raises(ValueError, match=r"Insufficient height for ScrollBar \(2\)"):
        ScrollBar(0, 0, 1, 1, 0, 0)


def test_navigation_forgets_what_lay_ahead_and_what_is_too_old():
    history = CursesNavigationHistory(2)
    with pytest.raises(ValueError, match="Empty navigation history"):
        history.go_back()
    for command in ("a", "b", "c"):
        history.add_item(command, RichTextLines([command]), 0)
    assert (history.go_back().command, history.go_back().command, history.can_go_forward()) == ("b", "b", True)
    history.add_item("d", RichTextLines(["d"]), 0)
    assert (history.size(), history.pointer(), history.can_go_forward()) == (2, 1, False)
    assert history.render(14, "prev", "next").lines == ["| <-- --> | d"]
