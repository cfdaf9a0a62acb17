// SPDX-License-Identifier: BSD-2-Clause-Patent
// SO_LINGER with a time over the local leg: the program's close waits until the peer has acknowledged its bytes and
// their end, or the time is over. The supervisor's end hears the program's FIN late, and the program's kernel that it
// heard it later still; nothing in the program waits but its own kernel.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace downbeat {

class Linger {
public:
  /// The state of the connection and of the leg's end.
  struct Progress {
    bool closed; // no process has the program's socket any more
    bool unread; // bytes wait at the end
    std::uint64_t sent, acknowledged; // bytes of the core
    bool over; // the peer has all and the end, or the connection has ended
  };

  /// The program's option, if it waits. Its socket hears nothing with a TTL below 255.
  void set(std::optional<std::chrono::seconds> time, int end);
  /// The leg is there.
  void join(int end) const;
  bool waits() const { return time_.has_value(); }
  void step(const Progress &progress, int end);

private:
  using Clock = std::chrono::steady_clock;

  bool isQuiet(const Progress &progress, Clock::time_point now);

  std::optional<std::chrono::seconds> time_;
  std::optional<Clock::time_point> until_; // it has been closed
  Clock::time_point quietSince_{};
  std::uint64_t quietAt_ = ~0ull; // bytes sent
  bool hearsEnd_ = false;
};

} // namespace downbeat
