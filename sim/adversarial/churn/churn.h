// SPDX-License-Identifier: BSD-2-Clause-Patent
// Connections opened and closed in every order: each pair of an opening and an ending alone, then drawn ones, up to all
// flows at once.
#pragma once

#include <map>
#include <memory>

#include "connection.h"

namespace churn {

class Churn {
public:
  explicit Churn(std::uint64_t seed);
  /// So many connections; throws Failure.
  void run(std::uint64_t connections);
  /// Members of a JSON object.
  std::string report() const;

private:
  using Batch = std::vector<std::unique_ptr<Connection>>;
  struct Plan {
    std::string name;
    Steps steps;
    bool fails = false; // never ESTABLISHED
  };

  void begin();
  void end();
  Plan planOf(const Script &opening, const Script &ending);
  Plan drawn(bool mayFail);
  std::unique_ptr<Connection> make(const Plan &plan);
  void runBatch(Batch &batch);
  void finishBatch(Batch &batch);
  bool step(Batch &batch);
  void accept(Batch &batch);
  void idle(Batch &batch);
  std::uint64_t slotBurst();

  std::uint64_t seed_;
  fuzz::Draw draw_;
  fuzz::Pattern toCore_, toPeer_;
  std::unique_ptr<fuzz::Core> core_;
  std::uint64_t cores_ = 0;
  double hours_ = 0; // virtual time of the cores before
  std::uint16_t nextRemote_, nextLocal_;
  downbeat_time batchEnd_ = 0;
  std::uint64_t waits_ = 0; // in a batch
  std::uint64_t events_ = 0; // the flow engine's, up to the last step
  std::uint64_t connections_ = 0, batches_ = 0, established_ = 0, bytes_ = 0, slotBurstAtStart_ = 0,
                slotBurstAtEnd_ = 0;
  std::map<std::string, std::uint64_t> pairs_;
};

} // namespace churn
