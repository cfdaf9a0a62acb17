# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Ways to start with estimates of earlier connections: what `estimate` of a flow may be, and STARTUP of `make sim`."""

METHODS = ("liss", "iss", "miss", "js", "spand", "resume")
