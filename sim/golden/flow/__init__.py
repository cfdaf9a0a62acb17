# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Golden models of the flow directory."""
