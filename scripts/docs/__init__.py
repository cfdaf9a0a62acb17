# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The documentation site, and what its pages must keep to."""
