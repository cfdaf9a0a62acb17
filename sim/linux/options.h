// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options of downbeat_tap. `python -m sim.linux` gives every value; --help is for people.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lib/path/impairments.h"

struct Options {
  std::string tap;               // an interface that exists, of this network namespace
  std::string send;              // file to send to the peer
  std::string receive;           // file for the received bytes
  std::string fetch;             // path of a page to get from the peer's web server, into `receive`
  std::string serve;             // file to serve by HTTP
  std::string iperf3;            // "server" or "client"
  std::string relay;             // an interface of `relayNamespace`: no core, its kernel is the peer of this one
  std::string relayNamespace;    // a path under /proc
  std::uint64_t requests = 1;    // serve: number until the end; fetch: number on each connection
  std::uint64_t connections = 1; // fetch: connections at once; iperf3 client: streams
  std::uint64_t bytes = 0;       // iperf3 client: on all streams together
  bool reverse = false;          // iperf3 client: the server sends
  std::uint32_t coreIp = 0;      // 0x0a000001 for 10.0.0.1
  std::array<std::uint8_t, 6> coreMac{};
  std::uint32_t peerIp = 0;      // send, fetch, iperf3 client: the core's peer
  std::uint16_t port = 5001;     // the peer's port, or the one that the core listens on
  std::string startup, steady;   // send: policies by name; empty: the build's first
  std::uint32_t initialWindow = 0; // send: segments; 0: the library's
  Impairment impairment;         // each way
  double delay = 0;              // ms, each way
  std::uint64_t seed = 1;        // for the frames' faults and the core's secret
  double wallLimit = 120;        // seconds after which to give up
  std::string waves;             // FST file; empty: none
  std::string pcap;              // capture file (pcapng); empty: none

  /// Ends the program with a sentence if the arguments are wrong.
  static Options parse(int count, char **arguments);
};
