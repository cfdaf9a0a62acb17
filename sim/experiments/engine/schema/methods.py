# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Methods that start with estimates of earlier connections: values of a flow's `estimate` and of make sim's STARTUP."""

METHODS = ("liss", "iss", "miss", "js", "spand", "resume")
