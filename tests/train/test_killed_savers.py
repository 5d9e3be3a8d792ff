"""A process may be killed at any moment while it saves: `KILLS=200 pytest tests/train/test_killed_savers.py` tries often."""

import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("saving_until_killed.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_the_latest_checkpoint_of_a_killed_process_loads_and_is_of_one_save():
    done = subprocess.run([sys.executable, str(PROGRAM), os.environ.get("KILLS", "40"), "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
