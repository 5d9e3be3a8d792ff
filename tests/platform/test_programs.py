"""Flags, `tf.app.run`, and data files beside a program."""

import os
import subprocess
import sys
import textwrap

from everflow.platform import resource_loader


def run(tmp_path, text, *arguments):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    done = subprocess.run([sys.executable, str(program), *arguments], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout.strip(), done.stderr


def test_flags_are_parsed_at_first_use(tmp_path):
    code, out, err = run(
        tmp_path,
        """
        from everflow.platform import flags
        flags.DEFINE_integer(flag_name="steps", default_value=3, docstring="how many")
        flags.DEFINE_string("name", "x", "what")
        assert not flags.FLAGS.is_parsed()
        print(flags.FLAGS.steps, flags.FLAGS.name)
        flags.FLAGS.name = "y"
        print(flags.FLAGS.name, flags.FLAGS.flag_values_dict()["steps"])
    """,
        "--steps=5",
    )
    assert code == 0, err
    assert out.split() == ["5", "x", "y", "5"]


def test_run_calls_main_with_what_is_left_and_exits_with_its_answer(tmp_path):
    code, out, err = run(
        tmp_path,
        """
        from everflow.platform import app, flags
        flags.DEFINE_integer("steps", 3, "how many")

        def main(argv):
            print(argv[1:], flags.FLAGS.steps)
            return 7

        app.run()
    """,
        "--unknown=1",
        "--steps=5",
        "rest",
    )
    assert code == 7, err
    assert out == "['--unknown=1', 'rest'] 5"


def test_messages_keep_their_form_inside_run(tmp_path):
    code, _, err = run(
        tmp_path,
        """
        from everflow.platform import app, logging

        def main(argv):
            logging.set_verbosity(logging.INFO)
            logging.info("loss = %g", 0.5)

        app.run()
    """,
    )
    assert code == 0 and "INFO:tensorflow:loss = 0.5\n" in err


def test_help_lists_the_flags_of_the_program(tmp_path):
    code, out, _ = run(
        tmp_path,
        """
        from everflow.platform import app, flags
        flags.DEFINE_integer("steps", 3, "how many steps to take")
        app.run(lambda argv: 0)
    """,
        "--help",
    )
    assert code == 1 and "--steps: how many steps to take" in out


def test_resources_are_found_beside_the_caller():
    folder = os.path.dirname(os.path.abspath(__file__))
    assert resource_loader.get_data_files_path() == folder
    assert resource_loader.get_path_to_datafile("data/x") == os.path.join(folder, "data/x")
    assert resource_loader.load_resource("test_programs.py").startswith(b'"""Flags')
