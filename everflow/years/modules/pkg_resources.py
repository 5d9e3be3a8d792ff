"""`pkg_resources`: versions of packages, their files and entry points, by importlib's means."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from typing import Any

from everflow.years.modules.distutils.version import LooseVersion


class ResolutionError(Exception):
    """A package is not as it is asked for."""


class DistributionNotFound(ResolutionError):
    """A package is not installed."""


class VersionConflict(ResolutionError):
    """A package is installed in another version."""


def parse_version(version: str) -> Any:
    try:
        from packaging.version import Version

        return Version(version)
    except ModuleNotFoundError:
        return LooseVersion(version)


class Distribution:
    """An installed package."""

    def __init__(self, found: importlib.metadata.Distribution) -> None:
        self._found = found
        self.project_name: str = found.metadata["Name"]
        self.key = self.project_name.lower()
        self.version: str = found.version
        self.location = str(found.locate_file(""))

    @property
    def parsed_version(self) -> Any:
        return parse_version(self.version)

    def __str__(self) -> str:
        return f"{self.project_name} {self.version}"


def get_distribution(dist: Any) -> Distribution:
    return dist if isinstance(dist, Distribution) else require(dist)[0]


def require(*requirements: Any) -> list[Distribution]:
    """The packages that strings such as "numpy>=1.16" name; raises where one is missing or of another version."""
    found = []
    for text in requirements:
        from packaging.requirements import Requirement

        requirement = Requirement(str(text))
        try:
            distribution = Distribution(importlib.metadata.distribution(requirement.name))
        except importlib.metadata.PackageNotFoundError:
            raise DistributionNotFound(f"The '{text}' distribution was not found and is required by the application") from None
        if not requirement.specifier.contains(distribution.version, prereleases=True):
            raise VersionConflict(f"({distribution}, Requirement.parse('{text}'))")
        found.append(distribution)
    return found


def _path(package: Any, resource: str) -> str:
    module = sys.modules.get(package) or importlib.import_module(package)
    return os.path.join(os.path.dirname(module.__file__ or ""), *resource.split("/"))


def resource_filename(package_or_requirement: Any, resource_name: str) -> str:
    return _path(package_or_requirement, resource_name)


def resource_exists(package_or_requirement: Any, resource_name: str) -> bool:
    return os.path.exists(_path(package_or_requirement, resource_name))


def resource_isdir(package_or_requirement: Any, resource_name: str) -> bool:
    return os.path.isdir(_path(package_or_requirement, resource_name))


def resource_listdir(package_or_requirement: Any, resource_name: str) -> list[str]:
    return os.listdir(_path(package_or_requirement, resource_name))


def resource_stream(package_or_requirement: Any, resource_name: str) -> Any:
    return open(_path(package_or_requirement, resource_name), "rb")


def resource_string(package_or_requirement: Any, resource_name: str) -> bytes:
    with resource_stream(package_or_requirement, resource_name) as file:
        return file.read()


def iter_entry_points(group: str, name: str | None = None) -> Any:
    for point in importlib.metadata.entry_points(group=group):
        if name in (None, point.name):
            yield point


def declare_namespace(name: str) -> None:
    """Packages that lie in several folders: their modules are found in each."""
    import pkgutil

    module = sys.modules[name]
    module.__path__ = pkgutil.extend_path(module.__path__, name)


class _WorkingSet:
    """All that is installed."""

    def __iter__(self) -> Any:
        return (Distribution(found) for found in importlib.metadata.distributions() if found.metadata["Name"])

    @property
    def by_key(self) -> dict[str, Distribution]:
        return {distribution.key: distribution for distribution in self}

    def require(self, *requirements: Any) -> list[Distribution]:
        return require(*requirements)

    def iter_entry_points(self, group: str, name: str | None = None) -> Any:
        return iter_entry_points(group, name)


working_set = _WorkingSet()
