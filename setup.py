"""Builds the native extension; everything else about the package stands in pyproject.toml."""

import pathlib
import sys
import sysconfig
import tempfile

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

    JPEG files are read natively where libjpeg-turbo and its header are there to build with, else by Pillow.
    """

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            compile_args, link_args = ["/std:c++17", "/O2", "/EHsc", "/bigobj"], []
        else:
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
