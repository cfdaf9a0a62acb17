# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Windows that shut, shrink and open while data goes both ways; every reply must be acceptable by RFC 9293's table."""
