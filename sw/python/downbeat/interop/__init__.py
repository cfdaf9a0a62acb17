# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make interop`: the core on a TAP interface against the Linux kernel's TCP."""
