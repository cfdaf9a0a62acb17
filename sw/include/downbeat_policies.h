/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Generated from the RTL by `make generate`; do not edit. */
#ifndef DOWNBEAT_POLICIES_H
#define DOWNBEAT_POLICIES_H

/* CRC-32 of the policies' names, numbers and arguments, as the core has it of its own. */
#define DOWNBEAT_POLICY_HASH 2642524687u

#define DOWNBEAT_STARTUP_POLICIES(each) \
  each("standard") \
  each("ssipp") \
  each("paced") \
  each("pairs") \
  each("lbc") \
  each("hystart") \
  each("limited") \
  each("hoe") \
  each("spm") \
  each("vegasstart") \
  each("past") \
  each("rapid") \
  each("search") \
  each("astart") \
  each("spmastart") \
  each("miss") \
  each("resume")

#define DOWNBEAT_STEADY_POLICIES(each) \
  each("reno") \
  each("aimd") \
  each("carson") \
  each("cubic") \
  each("logistic") \
  each("stcp") \
  each("hstcp") \
  each("fast") \
  each("vegas") \
  each("westwood")

#endif
