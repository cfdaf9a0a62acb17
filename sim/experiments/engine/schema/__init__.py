# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The form of sim/experiments/papers/*/NAME.toml: network and flows, and in measures.py the measures of the runs.

Every key has a type and a unit; an unknown one is refused.
"""
