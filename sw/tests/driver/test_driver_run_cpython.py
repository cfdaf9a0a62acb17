# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CPython's own tests of TCP sockets over the core: the same results as over the kernel."""

from __future__ import annotations

import importlib.util
import subprocess

import pytest

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import CORE, KERNEL, over_core, ports_free, script

WALL_SECONDS = 900.0
# Classes by module: those wanted and those not, as regular expressions; tests that run at least.
MODULES = {
    "test_socket": (
        "TCP|FileObject|Buffer|NetworkConn|Sendfile|NonBlocking|Create",
        "Base|SCTP|UDP|VSOCK|RDS|CAN|Bluetooth|6|Lite",
        150,
    ),
    "test_selectors": ("Select|Poll", "Base", 50),
    "test_ftplib": ("TestFTP|TestTimeouts|TestTLS", "IPv6", 80),
    "test_smtplib": ("Test|Debugging|BadHELO|TooLong|SMTP", "^BaseHeader", 60),
    "test_ssl": ("SimpleBackground|Threaded|NetworkedBIO|PostHandshake|Enum_?Debug|SSLDebug", "Networked", 80),
    "test_asyncio.test_streams": (".", "^$", 50),
    "test_asyncio.test_server": ("Start|Test", "^$", 3),
    "test_asyncio.test_sock_lowlevel": ("Test", "Base|Mixin", 30),
    "test_asyncio.test_sendfile": ("Test|Loop", "Base|Mixin", 20),
    "test_asyncio.test_buffered_proto": ("Buffered", "Base", 1),
    "test_asyncio.test_events": ("Select|Poll", "Base|Mixin", 100),
    "test_asyncio.test_ssl": (".", "Base|Mixin", 15),
    "test_asyncio.test_sslproto": (".", "Base|Mixin", 20),
}
# Tests that must differ over the core, by the end of their names, and why: neither side runs them.
DIFFERENT = {
    "ThreadedTests.test_server_accept": "it connects to localhost, which is the kernel's own",
    "ThreadedTests.test_socketserver": "localhost",
    "EventLoopTests.test_create_datagram_endpoint": "UDP",
    "EventLoopTests.test_create_datagram_endpoint_sock": "UDP",
    "TestSSL.test_create_connection_ssl_1": "25 connections at once; the model of the rings has 16 flows",
    "TestSSL.test_create_server_ssl_1": "25 connections",
    "TestSSL.test_create_server_ssl_over_ssl": "25 connections",
    "TestSSL.test_shutdown_cleanly": "25 connections",
    "EventLoopTests.test_recvfrom": "UDP is the kernel's, and so is its address",
    "EventLoopTests.test_recvfrom_into": "UDP",
    "EventLoopTests.test_sendto_blocking": "UDP",
    "NetworkConnectionAttributesTest.testSourceAddress": "a race of its own: its cleanup may close the client in use",
    "EventLoopTests.test_sendfile_close_peer_in_the_middle_of_receiving": "the supervisor has space for the whole file",
}
TESTS = """
import gc, importlib, importlib.abc, importlib.machinery, re, sys, unittest
address, module, wanted, other, *different = sys.argv[1:]
class Loader(importlib.machinery.SourceFileLoader):
    # The tests name the host by its address.
    def get_code(self, name):
        text = self.get_data(self.path).replace(b"127.0.0.1", address.encode())
        return compile(text.replace(b'HOST = "localhost"', b'HOST = HOSTv4 = "%s"' % address.encode()), self.path, "exec")
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name.startswith("test.") else None
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(name, spec.loader.path)
        return spec
sys.meta_path.insert(0, Finder())
class Result(unittest.TestResult):
    def stopTest(self, test):
        super().stopTest(test)
        gc.collect()  # or another test is warned of what this one left
tests = importlib.import_module("test." + module)
for name, kind in sorted(vars(tests).items()):
    if isinstance(kind, type) and issubclass(kind, unittest.TestCase) and re.search(wanted, name) and not re.search(other, name):
        tests_of = unittest.defaultTestLoader.getTestCaseNames(kind)
        suite = unittest.TestSuite(kind(each) for each in tests_of if not f"{name}.{each}".endswith(tuple(different)))
        result = Result()
        suite.run(result)
        wrong = sorted(each.id() for each, _ in result.failures + result.errors)
        print("row", name, result.testsRun, len(result.skipped), *wrong)
        for _, text in result.failures + result.errors:
            print(text, file=sys.stderr)
"""


@pytest.mark.soak
@pytest.mark.parametrize("module", MODULES)
def test_its_own_tests_have_the_results_of_the_kernel(nic: Nic, module: str) -> None:
    if importlib.util.find_spec("test.test_socket") is None:
        pytest.skip("this Python has no tests of its own (Debian: libpython3-testsuite)")
    wanted, other, minimum = MODULES[module]
    sides = [
        subprocess.run(command, capture_output=True, text=True, timeout=WALL_SECONDS, check=False)
        for command in (
            script(TESTS, KERNEL, module, wanted, other, *DIFFERENT),
            over_core(nic, *script(TESTS, CORE, module, wanted, other, *DIFFERENT)),
        )
    ]
    rows = [
        [line for line in side.stdout.splitlines() if line.startswith("row ")]  # a test prints too
        for side in sides
    ]
    assert sum(int(row.split()[2]) for row in rows[0]) >= minimum, sides[0].stderr
    assert rows[0] == rows[1], sides[1].stderr
    ports_free(nic)
