/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Generated from the RTL by `make generate`; do not edit. */
#ifndef DOWNBEAT_POLICIES_H
#define DOWNBEAT_POLICIES_H

/* CRC-32 of the policies' names, numbers and arguments, as the core has it of its own. */
#define DOWNBEAT_POLICY_HASH 2596021053u

#define DOWNBEAT_STARTUP_POLICIES(each) \
  each("standard") \
  each("paced") \
  each("pairs")

#define DOWNBEAT_STEADY_POLICIES(each) \
  each("reno") \
  each("cubic")

#endif
