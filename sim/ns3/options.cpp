// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "options.h"

#include <ns3/command-line.h>

Options Options::parse(int count, char **arguments) {
  Options options;
  ns3::CommandLine line(__FILE__);
  line.AddValue("sender", "core or linux-reno", options.sender);
  line.AddValue("file", "file to send", options.file);
  line.AddValue("out", "directory of the results", options.out);
  line.AddValue("rate", "bottleneck, b/s", options.rate);
  line.AddValue("link-rate", "access links, b/s", options.linkRate);
  line.AddValue("rtt", "base round-trip time, ns", options.rtt);
  line.AddValue("buffer", "bottleneck buffer, bytes; 0: one bandwidth-delay product", options.buffer);
  line.AddValue("buffer-packets", "bottleneck buffer, packets", options.bufferPackets);
  line.AddValue("loss", "probability of a random loss", options.loss);
  line.AddValue("ssthresh", "initial ssthresh, bytes", options.ssthresh);
  line.AddValue("initial-window", "initial window, segments", options.initialWindow);
  line.AddValue("segment-size", "bytes", options.segmentSize);
  line.AddValue("startup", "start-up policy", options.startup);
  line.AddValue("steady", "steady policy", options.steady);
  line.AddValue("startup-argument", "its argument: a number, of 128 bits with 0x", options.startupArgument);
  line.AddValue("steady-argument", "likewise", options.steadyArgument);
  line.AddValue("seed", "seed of losses and of the core's secret", options.seed);
  line.AddValue("waves", "FST file to write", options.waves);
  line.AddValue("pcap", "capture file to write (pcapng), only of the core as sender", options.pcap);
  line.AddValue("wall-limit", "wall seconds after which to give up", options.wallLimit);
  line.Parse(count, arguments);
  return options;
}
