# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Tests of libdownbeat, the NIC process and `downbeat run`."""
