// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "core.h"

using namespace ns3;

namespace {

/// 9.200.0.0: a network for each core, apart from those of routers.
CoreHost::Addresses addresses(unsigned index) {
  const std::uint32_t network = (9u << 24 | 200u << 16) + (index << 8);
  return {network + 2, network + 1};
}

} // namespace

Core::Core(Ptr<Node> node, const AccessPlan &link, unsigned index, Estimates *estimates)
    : host_(node, Create<CoreLink>(link.rate, NanoSeconds(link.delay)), addresses(index), NanoSeconds(link.delay)),
      estimates_(estimates) {}

std::string Core::open(std::uint64_t seed) {
  if (std::string failure = host_.open(seed, ""); !failure.empty()) return failure;
  downbeat_sim_set_event_callback(
      host_.device(), [](void *self, const downbeat_event *event) { static_cast<Core *>(self)->see(*event); }, this);
  downbeat_sim_set_report_callback(
      host_.device(),
      [](void *self, const downbeat_path_report *report) {
        if (CoreFlow *flow = static_cast<Core *>(self)->owner(report->flow, report->generation))
          flow->reported(*report);
      },
      this);
  host_.run([this] { application(); });
  host_.attentive(false);
  return "";
}

void Core::forget(CoreFlow &flow) {
  std::erase(flows_, &flow);
  std::erase_if(byName_, [&flow](const auto &entry) { return entry.second == &flow; });
}

void Core::application() {
  for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i]->fill();
}

void Core::see(const downbeat_event &event) {
  if (!event.live) return;
  if (CoreFlow *flow = owner(event.flow, event.generation)) flow->see(event);
}

CoreFlow *Core::owner(std::uint32_t flowNumber, std::uint32_t generation) {
  const std::uint64_t name = static_cast<std::uint64_t>(flowNumber) << 32 | generation;
  const auto found = byName_.find(name);
  if (found != byName_.end()) return found->second;
  for (CoreFlow *flow : flows_) {
    downbeat_sim_info info;
    if (downbeat_sim_connection_info(device(), flow->connection(), &info) != DOWNBEAT_OK) continue;
    if (info.flow == flowNumber && info.generation == generation && info.state != DOWNBEAT_CLOSED)
      return byName_[name] = flow;
  }
  return nullptr;
}
