"""What is imported late is there when it is asked for."""

import subprocess
import sys

PROGRAM = """
import everflow.as_tensorflow, sys
import tensorflow as tf
assert "torch" not in sys.modules
print(tf.Session().run(tf.constant(2) + 3))
import torch
assert "torch._decomp" not in sys.modules and not hasattr(torch._meta_registrations, "register_meta")
"""

COMPILER = """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    picked = torch.empty(4, 5)[torch.tensor([0, 2, 1])]
    print(tuple(picked.shape), tuple(torch.linalg.lu_factor(torch.empty(3, 3))[0].shape))
class Double(torch.nn.Module):
    def forward(self, x): return torch.nn.functional.max_pool2d(x, 2)
print(tuple(torch.export.export(Double(), (torch.ones(1, 1, 4, 4),)).module()(torch.ones(1, 1, 4, 4)).shape))
assert torch._meta_registrations.register_meta
"""


def output(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_tensorflow_program_imports_torch_without_what_only_its_compiler_needs():
    assert output(PROGRAM) == "5\n"


def test_torchs_compiler_finds_it():
    assert output(PROGRAM + COMPILER) == "5\n(3, 5) (3, 3)\n(1, 1, 2, 2)\n"
