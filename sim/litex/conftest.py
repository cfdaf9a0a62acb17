# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Tests that need LiteX are collected where `make litex` has installed it: by `make test TEST=sim/litex`."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("litex") else ["test_gen.py", "test_memory.py"]
