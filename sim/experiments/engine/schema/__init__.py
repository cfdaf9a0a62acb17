# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What stands in sim/experiments/NAME.toml: the network and its flows; measures.py has what is asked of the runs.

Every key has a type and a unit; an unknown one is refused.
"""
