# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Makes each pytest process of the project, called by make or by hand, treat cocotb cases alike."""

pytest_plugins = ("scripts.check.plugin",)
