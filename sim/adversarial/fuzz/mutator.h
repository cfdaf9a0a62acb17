// SPDX-License-Identifier: BSD-2-Clause-Patent
// Mutants of recorded frames.
#pragma once

#include <optional>

#include "corpus.h"
#include "mutations.h"

namespace fuzz {

struct Mutant {
  Bytes bytes;
  bool damaged = false; // the MAC found its FCS wrong
};

/// A connection that may be broken, in its peer's words: numbers near these get deep.
struct Target {
  Station peer;
  Tuple tuple;
  std::uint32_t sequence, acknowledgment;
};

class Mutator {
public:
  /// `ports`: that listen.
  explicit Mutator(std::vector<std::uint16_t> ports) : ports_(std::move(ports)), counts_(mutations().size()) {}

  /// A frame of the corpus, perhaps sent to another connection, then changed; checksums mostly right again.
  Mutant mutate(const Corpus &corpus, const std::optional<Target> &target, Draw &draw);

  /// Such a frame as it is, or changed likewise.
  Mutant alter(Bytes frame, unsigned changes, Draw &draw);

  /// How often each kind was drawn.
  std::vector<std::pair<const char *, std::uint64_t>> counts() const;

private:
  void readdress(Bytes &frame, const std::optional<Target> &target, Draw &draw) const;

  std::vector<std::uint16_t> ports_;
  std::vector<std::uint64_t> counts_; // for each mutation
  std::uint64_t splices_ = 0;
};

} // namespace fuzz
