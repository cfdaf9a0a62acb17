/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Generated from the RTL by `make generate`; do not edit. */
#ifndef DOWNBEAT_POLICIES_H
#define DOWNBEAT_POLICIES_H

/* The congestion policies of the default build by number; CRC-32 of names, numbers and arguments. */
#define DOWNBEAT_POLICY_HASH 0u
#define DOWNBEAT_STARTUP_POLICIES                                                                                      \
  {"standard", "ssipp", "paced",      "pairs", "lbc",   "hystart", "limited",                                          \
   "hoe",      "spm",   "vegasstart", "past",  "rapid", "search"}
#define DOWNBEAT_STEADY_POLICIES {"reno", "aimd", "carson", "cubic", "logistic", "stcp", "hstcp", "fast", "vegas"}

#endif
