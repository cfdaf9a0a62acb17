// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "site_estimates.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <dlfcn.h>

namespace {

using namespace std::chrono_literals;
// Real time: what other hosts have reported is on its way; then an answer is.
constexpr std::chrono::milliseconds settling = 300ms, timeout = 1s, interval = 2ms;

template <typename Function> void find(void *library, const char *name, Function &place) {
  place = reinterpret_cast<Function>(dlsym(library, name));
  if (place == nullptr) throw std::runtime_error(std::string("libdownbeat_site has no ") + name);
}

} // namespace

SiteEstimates::SiteEstimates(const SitePlan &plan, const EstimatorPlan &estimator) : hasGateway_(!plan.uri.empty()) {
  void *library = dlopen(plan.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  find(library, "downbeat_site_create", call_.create);
  find(library, "downbeat_site_destroy", call_.destroy);
  find(library, "downbeat_site_open", call_.open);
  find(library, "downbeat_site_report", call_.report);
  find(library, "downbeat_site_close", call_.close);
  find(library, "downbeat_site_expect", call_.expect);
  find(library, "downbeat_site_request", call_.request);
  std::string key = plan.key;
  std::ranges::replace(key, ',', ' ');
  const downbeat_estimator_options options = Estimates::options(estimator);
  const char *problem = nullptr;
  site_ = call_.create(&options, plan.uri.c_str(), key.c_str(), 0, &problem);
  if (site_ == nullptr) throw std::runtime_error(std::string("site: ") + problem);
}

SiteEstimates::~SiteEstimates() { call_.destroy(site_); }

void SiteEstimates::open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) {
  call_.open(site_, now, connection, &remote);
}

void SiteEstimates::report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
                           const downbeat_path_report &report) {
  call_.report(site_, now, connection, &remote, &report);
}

void SiteEstimates::close(std::uint64_t now, std::uint64_t connection) { call_.close(site_, now, connection); }

downbeat_host_start SiteEstimates::request(std::uint64_t now, const downbeat_start_request &request) {
  downbeat_host_start start{};
  call_.request(site_, now, &request, &start);
  return start;
}

void SiteEstimates::expect(std::uint32_t remote) {
  const downbeat_address host = address(remote);
  if (hasGateway_) std::this_thread::sleep_for(settling);
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (hasGateway_ && call_.expect(site_, &host, 0) == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(interval);
}
