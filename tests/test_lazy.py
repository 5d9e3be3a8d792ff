"""What is imported late is there when it is asked for."""

import subprocess
import sys

import pytest
import torch

from everflow.late_torch import ALONE, LATE, RELEASE, TAKEN, TOLD

pytestmark = pytest.mark.skipif(not torch.__version__.startswith(RELEASE), reason="late_torch.py follows another release")

PROGRAM = """
import sys
import everflow as tf
assert "torch" not in sys.modules
print(tf.Session().run(tf.constant(2) + 3))
assert "torch.fx.graph" not in sys.modules and "torch.nn.modules" not in sys.modules and "torch._decomp" not in sys.modules
import torch
"""

# What programs do with torch, each as the first that asks for something late.
USES = {
    "a network": """
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
torch.nn.functional.relu(net(torch.ones(2, 3))).sum().backward()
assert isinstance(net[0].weight, torch.nn.parameter.Parameter) and net[0].weight.grad.shape == (4, 3)
torch.optim.SGD(net.parameters(), lr=0.1).step()
""",
    "names that torch has from elsewhere": """
from torch import cond, vmap
assert vmap(torch.sum)(torch.ones(2, 3)).tolist() == [3, 3] and vmap is torch.func.vmap
assert cond is torch.cond and {"cond", "lobpcg", "vmap", "while_loop"} <= set(dir(torch))
assert torch.fx.Graph and torch.__getattr__.__module__ == "torch" and "lobpcg" in vars(torch)
""",
    "all names": "from torch import *; assert callable(lobpcg)",
    "what a module holds": "assert torch.optim.__dict__['SGD'] is torch.optim.SGD; assert torch.distributions.__doc__",
    "a submodule": """
import torch.testing._comparison, torch.utils.data.distributed
torch.testing.assert_close(torch.ones(2), torch.ones(2))
from torch.nn.utils.rnn import pad_sequence
assert pad_sequence is torch.nn.utils.rnn.pad_sequence
# None has been executed twice, which would have left some without what it imports.
assert all(hasattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2]) for name in sys.modules if name.startswith("torch.nn."))
""",
    "a trace": """
import torch.jit
assert torch.jit.trace(lambda x: torch.ops.aten.add(x, x), torch.ones(1))(torch.ones(1)).item() == 2
""",
    "saving and loading": """
import io
file = io.BytesIO()
torch.save({"x": torch.ones(2), "net": torch.nn.Linear(1, 1).state_dict()}, file)
file.seek(0)
assert torch.load(file)["x"].tolist() == [1, 1]
""",
    "processes that work together": """
import torch.distributed as dist
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
x = torch.ones(2)
dist.all_reduce(x)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
net(x).sum().backward()
dist.destroy_process_group()
""",
    "a compiler": """
assert torch.compile(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), backend="aot_eager")(torch.zeros(1)).item() == 1
""",
    "tensors without data": """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    picked = torch.empty(4, 5)[torch.tensor([0, 2, 1])]
    assert picked.shape == (3, 5) and torch.linalg.lu_factor(torch.empty(3, 3))[0].shape == (3, 3)
assert torch._meta_registrations.register_meta
""",
    "an export": """
class Half(torch.nn.Module):
    def forward(self, x): return torch.nn.functional.max_pool2d(x, 2)
assert torch.export.export(Half(), (torch.ones(1, 1, 4, 4),)).module()(torch.ones(1, 1, 4, 4)).shape == (1, 1, 2, 2)
""",
    "ops that late modules define": "assert torch.ops.higher_order.cond and torch.ops.prims.sin(torch.zeros(1)).item() == 0",
    "modules that no one names": "assert torch._subclasses.FakeTensor",
    "many threads": """
import threading
found = []
asks = ["nn.Linear", "optim.Adam", "fx.Graph", "jit.script", "distributions.Normal", "export.export", "masked.masked_tensor", "vmap"] * 2
def ask(path):
    value = torch
    for name in path.split("."): value = getattr(value, name)
    found.append(value)
threads = [threading.Thread(target=ask, args=(path,)) for path in asks]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 16 and len(set(found)) == 8
""",
    "many threads that import": """
import faulthandler, importlib, random, threading
faulthandler.dump_traceback_later(50, exit=True)
names = ["nn", "optim", "jit", "fx", "func", "distributions", "utils.data", "export", "masked", "cond", "vmap", "lobpcg", "testing", "hub"]
failed = []
def ask(seed):
    try:
        for name in random.Random(seed).sample(names, len(names)):
            if seed % 2 and not hasattr(torch, name): importlib.import_module("torch." + name)
            else: exec(f"from torch import {name}" if "." not in name else f"import torch.{name}")
    except Exception as error: failed.append((name, error))
threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
""",
    "random numbers of one's own": """
from torch.utils.data import DataLoader
assert sorted(x.item() for x in DataLoader(range(4), shuffle=True, num_workers=1, multiprocessing_context="fork")) == [0, 1, 2, 3]
assert torch.rand(2, generator=torch.Generator().manual_seed(1)).equal(torch.rand(2, generator=torch.Generator().manual_seed(1)))
assert isinstance(torch.default_generator, torch.Generator)
import torch._prims
assert torch.Generator().manual_seed(1).initial_seed() == 1
""",
    "one that can't be loaded, then can": """
sys.modules["torch.optim.sgd"] = None
for _ in range(2):
    try: torch.optim.SGD
    except ModuleNotFoundError as error: assert error.name == "torch.optim.sgd"
    else: raise AssertionError
del sys.modules["torch.optim.sgd"]
assert torch.optim.SGD.__module__ == "torch.optim.sgd" and sys.modules["torch.optim"] is torch.optim
""",
}


def output(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("use", USES)
def test_torch_is_imported_without_what_few_programs_use_and_gets_it_for(use):
    assert output(PROGRAM + USES[use]) == "5\n"


def test_as_tensorflow_it_is_the_same():
    assert output("import everflow.as_tensorflow\n" + PROGRAM + USES["a network"]) == "5\n"


def test_a_program_that_imports_torch_has_all_of_it_but_what_only_its_compiler_needs():
    code = """
import everflow.as_tensorflow, sys, torch
import tensorflow as tf
assert "torch.fx.graph" in sys.modules and "torch._decomp" not in sys.modules
print(tf.Session().run(tf.constant(2) + 3))
"""
    for use in ("random numbers of one's own", "tensors without data"):
        assert output(code + USES[use]) == "5\n"


@pytest.mark.parametrize("setting", ["late_torch.RELEASE = '0.'", "os.environ['TORCH_LOGS'] = '-all'"])
def test_all_of_it_is_imported(setting):
    code = f"""
import os, sys
from everflow import late_torch
{setting}
from everflow.lazy import torch
torch.float32
assert "torch.fx.graph" in sys.modules and "torch._decomp" not in sys.modules
"""
    assert output(code) == ""


def test_what_the_tables_name_is_there():
    for name in LATE | ALONE:
        assert name in sys.modules
    for name, home in TAKEN.items():
        assert hasattr(sys.modules[home], name)
    for home, name in TOLD:
        assert callable(getattr(sys.modules[home], name))
