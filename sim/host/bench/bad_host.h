// SPDX-License-Identifier: BSD-2-Clause-Patent
// A host that writes what it must not. The rules are those of docs/reference/host-interface.md, written down here once
// more: for each value, which outcomes it may have.
#pragma once

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include "machine.h"

namespace downbeat::bench {

/// Responses that a value may get.
struct Expected {
  std::set<format::HostError> errors; // one of these, or, if it is empty,
  bool quiet = false; // nothing; with `errors`: either
  bool answer = false; // an answer, whatever its reason
};

class BadHost {
public:
  /// `own`: an established connection of port `bad`, with unread bytes; `others`: one of another port.
  BadHost(Machine &machine, std::uint32_t bad, const format::Notification &own, const format::Notification &others,
          std::uint32_t seed);

  /// Each field x each kind of wrong value; the number of values. `beside` is called after each.
  std::uint64_t systematic(const std::function<void()> &beside);
  /// Drawn ones, in small batches.
  std::uint64_t random(std::uint64_t count, const std::function<void()> &beside);
  /// Rings that cannot be, and rings over one another.
  std::uint64_t rings();

  std::uint64_t answered() const { return answered_; }
  /// Values whose outcome was not the expected one, and the first of them in words.
  std::uint64_t wrong() const { return wrong_; }
  const std::string &firstWrong() const { return firstWrong_; }

private:
  struct Sent {
    format::HostSource source;
    std::uint32_t value;
    std::uint16_t request;
    Expected expected;
    std::string words;
  };

  HostPort &host() { return machine_.port(bad_); }
  Expected ofData(format::HostSource source, std::uint32_t sequence, std::uint32_t reference) const;
  Expected ofCommand(const format::Command &command) const;
  Expected ofIndex(std::uint32_t value, std::uint32_t least, std::uint32_t most) const;
  void data(format::HostSource source, std::uint32_t sequence, std::uint32_t reference);
  void index(format::HostSource source, std::uint32_t value);
  void command(format::Command command);
  void randomOne();
  format::Command randomCommand();
  std::uint32_t drawn(std::initializer_list<std::uint32_t> likely);
  /// Lets what was sent be answered, and compares.
  void settle();
  void fail(const Sent &sent, const std::string &got);

  Machine &machine_;
  std::uint32_t bad_;
  format::Notification own_, others_;
  std::uint32_t written_, consumed_, received_, acknowledged_; // of the own connection
  std::uint16_t request_ = 0x4000;
  std::deque<Sent> sent_;
  std::mt19937 draw_;
  std::uint64_t answered_ = 0, wrong_ = 0;
  std::string firstWrong_;
};

} // namespace downbeat::bench
