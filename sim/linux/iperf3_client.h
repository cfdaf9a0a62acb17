// SPDX-License-Identifier: BSD-2-Clause-Patent
// iperf3 -c on the core: one test of so many bytes with `iperf3 -s`, over TCP, either way.
#pragma once

#include "iperf3.h"
#include "options.h"

class Iperf3Client : public Iperf3 {
public:
  /// `options.bytes` on `options.connections` streams with `options.peerIp`, which sends them if `options.reverse`.
  Iperf3Client(downbeat_device *device, const Options &options);

private:
  bool connectStreams(const Options &options);
  /// True once each stream has sent its cookie.
  bool introduced();
  /// True once all bytes have been acknowledged or read.
  bool transferred();

  std::string cookie_;
  std::uint64_t bytesWanted_;
  std::vector<std::size_t> cookiePositions_;
  downbeat_time acknowledged_ = 0; // time of the last acknowledgment; 0: not yet
};
