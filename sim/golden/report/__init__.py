# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a connection tells the host of its path."""
