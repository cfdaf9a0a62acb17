# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two hosts, one path over ns-3: what the second host's first connection starts with."""
