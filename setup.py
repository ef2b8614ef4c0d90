"""Adds `policies/` to the package as `proxy/policies`. All else is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["proxy", "proxy.*"]), "proxy.policies"],
    package_dir={"proxy.policies": "policies"},
)
