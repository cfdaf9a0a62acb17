# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CPython's own tests of TCP sockets over the core: the same results as over the kernel."""

from __future__ import annotations

import importlib.util
import subprocess

import pytest

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import CORE, KERNEL, over_core, ports_free, script

WALL_SECONDS = 600.0
TESTS = """
import re, sys, unittest
from test import test_socket
from test.support import socket_helper
socket_helper.HOST = test_socket.HOST = sys.argv[1]
socket_helper.bind_port.__defaults__ = (sys.argv[1],)
wanted = re.compile("TCP|FileObject|Buffer|NetworkConn|Sendfile|NonBlocking|Create")
other = re.compile("Base|SCTP|UDP|VSOCK|RDS|CAN|Bluetooth|6|Lite")
for name, kind in sorted(vars(test_socket).items()):
    if isinstance(kind, type) and issubclass(kind, unittest.TestCase) and wanted.search(name) and not other.search(name):
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
        wrong = sorted(each.id() for each, _ in result.failures + result.errors)
        print(name, result.testsRun, len(result.skipped), *wrong)
"""


@pytest.mark.soak
def test_its_tests_of_sockets_have_the_results_of_the_kernel(nic: Nic) -> None:
    if importlib.util.find_spec("test.test_socket") is None:
        pytest.skip("this Python has no tests of its own (Debian: libpython3-testsuite)")
    results = [
        subprocess.run(command, capture_output=True, text=True, timeout=WALL_SECONDS, check=True).stdout.splitlines()
        for command in (script(TESTS, KERNEL), over_core(nic, *script(TESTS, CORE)))
    ]
    assert sum(int(row.split()[1]) for row in results[0]) > 150
    assert results[0] == results[1]
    ports_free(nic)
