# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gap bench: departures, gaps and rates of pacer and MAC, as they stand at the GMII pins."""
