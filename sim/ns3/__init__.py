# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make sim`: a file through the RTL and an ns-3 network, checked and reported (docs/tutorials/first-run.md)."""
