/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Generated from the RTL by `make generate`; do not edit. */
#ifndef DOWNBEAT_POLICIES_H
#define DOWNBEAT_POLICIES_H

/* CRC-32 of the policies' names, numbers and arguments, as the core has it of its own. */
#define DOWNBEAT_POLICY_HASH 298354357u

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

/* Policy, name, first bit, bits, fraction bits among them. */
#define DOWNBEAT_STARTUP_ARGUMENTS(each) \
  each("paced", "n", 0u, 16u, 0u) \
  each("paced", "gap", 16u, 52u, 16u) \
  each("paced", "burst", 68u, 2u, 0u) \
  each("pairs", "gap", 0u, 52u, 16u) \
  each("pairs", "pause", 52u, 36u, 0u) \
  each("pairs", "inverted", 88u, 1u, 0u) \
  each("hoe", "inverted", 0u, 1u, 0u) \
  each("spm", "inverted", 0u, 1u, 0u) \
  each("vegasstart", "gamma", 0u, 8u, 0u) \
  each("vegasstart", "round", 8u, 1u, 0u) \
  each("past", "bisect", 0u, 1u, 0u) \
  each("astart", "bwe", 0u, 1u, 0u) \
  each("astart", "slide", 1u, 1u, 0u) \
  each("spmastart", "bwe", 0u, 1u, 0u) \
  each("spmastart", "slide", 1u, 1u, 0u) \
  each("spmastart", "inverted", 2u, 1u, 0u) \
  each("miss", "m", 0u, 24u, 8u) \
  each("miss", "next", 24u, 48u, 0u) \
  each("miss", "maxWindow", 72u, 16u, 0u) \
  each("resume", "saved", 0u, 16u, 0u) \
  each("resume", "maxJump", 16u, 16u, 0u) \
  each("resume", "rtt", 32u, 36u, 0u)

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
  each("westwood") \
  each("bbr")

/* Policy, name, first bit, bits, fraction bits among them. */
#define DOWNBEAT_STEADY_ARGUMENTS(each) \
  each("aimd", "a", 0u, 24u, 16u) \
  each("aimd", "b", 24u, 16u, 16u) \
  each("carson", "fastdrop", 0u, 1u, 0u) \
  each("carson", "full", 1u, 1u, 0u) \
  each("carson", "factor", 2u, 6u, 2u) \
  each("carson", "variance", 8u, 7u, 0u) \
  each("carson", "history", 15u, 6u, 0u) \
  each("logistic", "K", 0u, 44u, 10u) \
  each("logistic", "A", 44u, 44u, 10u) \
  each("logistic", "eps", 88u, 16u, 5u) \
  each("logistic", "gamma", 104u, 10u, 6u) \
  each("hstcp", "linux", 0u, 1u, 0u) \
  each("fast", "alpha", 0u, 16u, 0u) \
  each("fast", "every", 16u, 2u, 0u) \
  each("fast", "mi", 18u, 1u, 0u) \
  each("vegas", "alpha", 0u, 8u, 0u) \
  each("vegas", "beta", 8u, 8u, 0u) \
  each("vegas", "round", 16u, 1u, 0u) \
  each("westwood", "bwe", 0u, 1u, 0u) \
  each("westwood", "slide", 1u, 1u, 0u)

#endif
