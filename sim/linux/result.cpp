// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "result.h"

#include <utility>

namespace {

nlohmann::ordered_json connection(const Application &application) {
  downbeat_sim_info info{};
  if (!application.info(info)) return nullptr;
  return {{"flow", info.flow},
          {"generation", info.generation},
          {"state", downbeat_sim_state_text(info.state)},
          {"remote_port", info.remote_port},
          {"local_port", info.local_port},
          {"acknowledged", info.acknowledged},
          {"unacknowledged", info.unacknowledged},
          {"received", info.received},
          {"peer_finished", info.peer_finished != 0}};
}

nlohmann::ordered_json counters(const downbeat_device *device) {
  downbeat_sim_counters own{};
  downbeat_sim_get_counters(device, &own);
  return {{"clocks", own.clocks},
          {"events", own.events},
          {"bypassed", own.bypass_in},
          {"late_arrivals", own.late_arrivals},
          {"late_departures", own.late_departures}};
}

/// The core's own counters that have counted something.
nlohmann::ordered_json coreCounters(const downbeat_device *device) {
  auto counted = nlohmann::ordered_json::object();
  const char *name = nullptr;
  std::uint32_t value = 0;
  for (unsigned index = 0; downbeat_sim_core_counter(device, index, &name, &value) == DOWNBEAT_OK; ++index)
    if (value != 0) counted[name] = value;
  return counted;
}

/// Frames that entered each way, and what was done to them.
void addWire(nlohmann::ordered_json &all, const Way &toCore, const Way &fromCore) {
  for (const auto &[name, count] :
       {std::pair{"frames", &Impairments::frames}, std::pair{"dropped", &Impairments::dropped},
        std::pair{"reordered", &Impairments::reordered}, std::pair{"duplicated", &Impairments::duplicated},
        std::pair{"corrupted", &Impairments::corrupted}})
    all[name] = {{"to_core", toCore.impairments.*count}, {"from_core", fromCore.impairments.*count}};
}

} // namespace

nlohmann::ordered_json result(const Relay &relay) {
  nlohmann::ordered_json all{{"failure", ""}};
  addWire(all, relay.toFirst, relay.toSecond);
  return all;
}

nlohmann::ordered_json result(downbeat_device *device, const RealTime &run, const Application &application,
                              const TraceLog &log) {
  nlohmann::ordered_json all{{"failure", run.failure()}, {"bytes", application.bytes()}};
  addWire(all, run.toCore, run.fromCore);
  all["segments"] = log.segments;
  all["retransmissions"] = log.retransmissions;
  all["connection"] = connection(application);
  all["counters"] = counters(device);
  all["core_counters"] = coreCounters(device);
  all["worst_lag_seconds"] = static_cast<double>(run.worstLag) / 65536e9;
  all["application"] = application.details();
  auto &lines = all["last_events"] = nlohmann::ordered_json::array();
  for (const auto &event : log.last()) lines.push_back(TraceLog::line(event));
  return all;
}
