"""Builds the native extension; everything else about the package stands in pyproject.toml."""

import pathlib
import sys

import nanobind
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NATIVE = pathlib.Path("native")
NANOBIND = pathlib.Path(nanobind.__file__).parent


class BuildNative(build_ext):
    """Says C++17, optimised, exact floating point and hidden symbols in the words of the compiler at hand."""

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            compile_args, link_args = ["/std:c++17", "/O2", "/EHsc", "/bigobj"], []
        else:
            # Without contraction into fused multiply-adds, all processors give the same random numbers.
            compile_args = ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
            compile_args += ["-fno-strict-aliasing", "-fvisibility=hidden", "-pthread"]
            link_args = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-pthread", "-ldl", "-s"]
        for extension in self.extensions:
            extension.extra_compile_args, extension.extra_link_args = compile_args, link_args
        super().build_extensions()


setup(
    ext_modules=[
        Extension(
            "everflow._native",
            sources=[str(source) for source in sorted(NATIVE.glob("*.cpp"))],
            depends=[str(header) for header in sorted(NATIVE.glob("*.h"))],
            include_dirs=[str(NANOBIND / part) for part in ("include", "src", "ext/robin_map/include")],
            define_macros=[("NDEBUG", None), ("NB_COMPACT_ASSERTIONS", None)],
            language="c++",
        )
    ],
    cmdclass={"build_ext": BuildNative},
)
