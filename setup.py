"""Builds the native extension; everything else about the package stands in pyproject.toml."""

import functools
import os
import pathlib
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor

if sys.version_info < (3, 10):  # noqa: UP036 (pip looks at requires-python after this)
    sys.exit("Everflow needs Python 3.10 or later; this is Python {}.{}.".format(*sys.version_info))

import nanobind
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError

NATIVE = pathlib.Path("native")
NANOBIND = pathlib.Path(nanobind.__file__).parent
FRAMEWORK = NATIVE / "framework"
C_API = NATIVE / "c_api"
CLIENT = NATIVE / "client"
FRAMEWORK_LIBRARY, C_LIBRARY, CLIENT_LIBRARY = "libtensorflow_framework.so.1", "libtensorflow.so.1", "libtensorflow_cc.so.1"

USES_CPP17 = """
#include <optional>
int main() { return std::optional<int>(0).value(); }
"""
USES_PYTHON = """
#include <Python.h>
int main() {}
"""
# A call that libjpeg-turbo has and other libraries of that name don't.
USES_JPEG = """
#include <cstdio>
#include <jpeglib.h>
int main() {
    jpeg_decompress_struct info;
    JDIMENSION left = 0, width = 0;
    jpeg_crop_scanline(&info, &left, &width);
}
"""


class BuildNative(build_ext):
    """Says C++17, optimised, exact floating point and hidden symbols in the words of the compiler at hand.

    JPEG files are read natively where libjpeg-turbo and its header are there to build with, else by Pillow. Objects are kept in build/, and
    made anew when something they include has changed.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        self.build_temp = f"build/objects-{sys.implementation.cache_tag}-{sysconfig.get_platform()}-nanobind-{nanobind.__version__}"

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            compile_args, link_args = ["/std:c++17", "/O2", "/EHsc", "/bigobj"], []
        else:
            self.compiler.compile = functools.partial(compile_changed, self.compiler)
            # Without contraction into fused multiply-adds, all processors give the same random numbers.
            compile_args = ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
            compile_args += ["-fno-strict-aliasing", "-fvisibility=hidden", "-pthread"]
            link_args = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-pthread", "-ldl", "-s"]
        if not self.can_build(USES_CPP17, compile_args):
            raise PlatformError("A C++17 compiler is needed to build Everflow (such as g++), and there is none that works.")
        if not self.can_build(USES_PYTHON, compile_args):
            folder = sysconfig.get_path("include")
            raise PlatformError(f"Python's headers are needed to build Everflow (such as python3-dev), and are not in {folder}.")
        has_jpeg = self.can_build(USES_JPEG, compile_args, "jpeg")
        if not has_jpeg:
            self.warn("There is no libjpeg-turbo to build with (libjpeg-dev): JPEG files will be read by Pillow, which takes longer.")
        for extension in self.extensions:
            if has_jpeg:
                extension.define_macros.append(("EVERFLOW_JPEG", None))
                extension.libraries.append("jpeg")
            extension.extra_compile_args, extension.extra_link_args = compile_args, link_args
        super().build_extensions()
        if self.compiler.compiler_type != "msvc":
            self.build_library(FRAMEWORK, FRAMEWORK_LIBRARY, [*compile_args, "-fvisibility=default"])
            self.build_library(C_API, C_LIBRARY, compile_args)
            self.build_library(CLIENT, CLIENT_LIBRARY, [*compile_args, "-fvisibility=default"], C_LIBRARY, FRAMEWORK_LIBRARY)

    def build_library(self, folder: pathlib.Path, name: str, compile_args: list[str], *others: str) -> None:
        """A library beside the extension: what custom ops link with, of which all is seen from outside, the C API, or C++'s over both."""
        target = pathlib.Path(self.get_ext_fullpath("everflow._native")).parent / name
        objects = self.compiler.compile(
            [str(source) for source in sorted(folder.glob("*.cpp"))],
            output_dir=self.build_temp,
            include_dirs=[str(folder), "everflow/include"],
            macros=[("NDEBUG", None), ("EVERFLOW_NO_EIGEN", None)],
            extra_postargs=compile_args,
        )
        soname = f"-Wl,-install_name,@rpath/{target.name}" if sys.platform == "darwin" else f"-Wl,-soname,{target.name}"
        # They are found where this one is.
        beside = [str(target.parent / other) for other in others]
        beside += [f"-Wl,-rpath,{'@loader_path' if sys.platform == 'darwin' else '$ORIGIN'}"] if others else []
        self.compiler.link_shared_object(
            objects,
            str(target),
            extra_postargs=["-pthread", soname, *beside, *([] if sys.platform == "darwin" else ["-ldl", "-s"])],
            target_lang="c++",
        )

    def copy_extensions_to_source(self) -> None:
        super().copy_extensions_to_source()
        if self.compiler.compiler_type != "msvc":
            for name in (FRAMEWORK_LIBRARY, C_LIBRARY, CLIENT_LIBRARY):
                self.copy_file(str(pathlib.Path(self.build_lib, "everflow", name)), "everflow")

    def can_build(self, program: str, compile_args: list[str], *libraries: str) -> bool:
        """Whether a program compiles and links."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "check.cpp")
            source.write_text(program)
            try:
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=compile_args)
                self.compiler.link_executable(objects, str(source.with_suffix("")), libraries=list(libraries), target_lang="c++")
            except (CompileError, LinkError):
                return False
        return True


def compile_changed(
    compiler, sources, output_dir=None, macros=None, include_dirs=None, debug=0, extra_preargs=None, extra_postargs=None, depends=None
):  # type: ignore[no-untyped-def]
    """What `compiler.compile` does, on all cores, and only for sources of which an object is missing or too old."""
    macros, objects, extra_postargs, pp_opts, build = compiler._setup_compile(
        output_dir, macros, include_dirs, sources, depends, extra_postargs
    )
    cc_args = compiler._get_cc_args(pp_opts, debug, extra_preargs)

    def make(target: str) -> None:
        source, extension = build[target]
        if not is_current(pathlib.Path(target)):
            compiler._compile(target, source, extension, cc_args, ["-MMD", *extra_postargs], pp_opts)

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        # The largest first, so that none is left for one core at the end.
        list(workers.map(make, sorted(objects, key=lambda target: -os.path.getsize(build[target][0]))))
    return objects


def is_current(target: pathlib.Path) -> bool:
    """Whether an object is newer than all of this tree that it was made of, which the compiler has written beside it."""
    listed = target.with_suffix(".d")
    if not (target.exists() and listed.exists()):
        return False
    made = target.stat().st_mtime
    includes = [pathlib.Path(name) for name in listed.read_text().replace("\\\n", " ").split()[1:]]
    return all(path.is_absolute() or (path.exists() and path.stat().st_mtime < made) for path in [*includes, pathlib.Path("setup.py")])


setup(
    ext_modules=[
        Extension(
            "everflow._native",
            sources=[str(source) for source in sorted(NATIVE.glob("*.cpp"))],
            depends=[str(header) for header in sorted([*NATIVE.glob("*.h"), FRAMEWORK / "abi.h"])],
            include_dirs=[str(NANOBIND / part) for part in ("include", "src", "ext/robin_map/include")],
            define_macros=[("NDEBUG", None), ("NB_COMPACT_ASSERTIONS", None)],
            language="c++",
        )
    ],
    cmdclass={"build_ext": BuildNative},
)
