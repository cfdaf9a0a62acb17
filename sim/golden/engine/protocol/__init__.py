# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One connection of the protocol stage, by RFC 9293 3.10, RFC 7323, RFC 5961 and docs/reference/protocol.md."""
