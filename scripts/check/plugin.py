# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Plugin of each pytest process (conftest.py loads it): attaches the cocotb cases to reports, seeds, obeys CASE."""

from __future__ import annotations

import os
import random
from collections.abc import Generator
from dataclasses import asdict
from types import FunctionType

import pytest

from cocotb_tests.bench import results


def is_wrapper(item: pytest.Item) -> bool:
    """True for a function that runs cocotb cases: it calls run_module, or a helper that does."""
    if not isinstance(item, pytest.Function):
        return False
    called = [item.function.__globals__.get(name) for name in item.function.__code__.co_names]
    return any("run_module" in _names(function) for function in (item.function, *called))


def _names(function: object) -> tuple[str, ...]:
    return function.__code__.co_names if isinstance(function, FunctionType) else ()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """As cocotb does for its cases: what a test draws depends on SEED and its own name."""
    random.seed(f"{os.environ.get('SEED', 1)}/{item.nodeid}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # Extra attributes travel from a worker to the session as they are.
    if report.when == "call":
        vars(report)["downbeat_cases"] = [asdict(case) for case in results.take()]
        vars(report)["downbeat_notes"] = results.take_notes()
    vars(report)["downbeat_wrapper"] = is_wrapper(item)
    return report


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in a hook of the same name
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("heavy"):
            item.add_marker(pytest.mark.xdist_group("heavy"))
        if item.get_closest_marker("soak") and not os.environ.get("SOAK"):
            item.add_marker(pytest.mark.skip(reason="long: make soak"))
    case = os.environ.get("DOWNBEAT_CASE", "")
    if case:
        chosen = [item for item in items if _holds(item, case)]
    elif os.environ.get("COCOTB_TEST_FILTER"):
        chosen = [item for item in items if is_wrapper(item)]
    elif os.environ.get("DOWNBEAT_MODELS_ALONE"):  # `make policies`: what compares a golden model with its paper
        chosen = [item for item in items if not is_wrapper(item)]
    else:
        return
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _holds(item: pytest.Item, case: str) -> bool:
    """An item is the case itself, or wraps the module in which the case stands (LABEL:NAME/PARAMETERS). What has a
    label may stand in any module: run_module knows its labels."""
    if item.nodeid.partition("::")[2] == case:
        return True
    label, _, name = case.rpartition(":")
    return is_wrapper(item) and (label != "" or hasattr(getattr(item, "module", None), name.partition("/")[0]))
