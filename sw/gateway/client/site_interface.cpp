// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat_site.h over the class: no exception passes it.
#include <memory>
#include <new>
#include <string>

#include "site.h"

using namespace downbeat::gateway;

struct downbeat_site {
  explicit downbeat_site(const downbeat_estimator_options &options) : own(options) {}
  Site own;
};

uint32_t downbeat_site_abi(void) { return DOWNBEAT_SITE_ABI; }
void downbeat_site_defaults(downbeat_estimator_options *options) { downbeat_estimator_defaults(options); }

downbeat_site *downbeat_site_create(const downbeat_estimator_options *options, const char *uri, const char *key,
                                    uint64_t flush, const char **problem) {
  thread_local std::string reason;
  reason.clear();
  std::unique_ptr<downbeat_site> made;
  try {
    made = std::make_unique<downbeat_site>(*options);
    if (!made->own.valid())
      reason = "the estimator's options are out of their range";
    else if (uri && *uri)
      reason = made->own.connect(uri, key ? key : "", static_cast<Nanoseconds>(flush));
  } catch (const std::bad_alloc &) { reason = "no memory"; }
  if (reason.empty()) return made.release();
  if (problem) *problem = reason.c_str();
  return nullptr;
}

void downbeat_site_destroy(downbeat_site *site) {
  const std::unique_ptr<downbeat_site> ended(site);
  try {
    if (site) site->own.finish();
  } catch (const std::bad_alloc &) {} // its reports are lost
}
int downbeat_site_descriptor(const downbeat_site *site) { return site->own.descriptor(); }
void downbeat_site_run(downbeat_site *site) { site->own.run(); }

downbeat_cause downbeat_site_open(downbeat_site *site, uint64_t now, uint64_t connection,
                                  const downbeat_address *remote) {
  return site->own.open(now, connection, *remote);
}

downbeat_cause downbeat_site_report(downbeat_site *site, uint64_t now, uint64_t connection,
                                    const downbeat_address *remote, const downbeat_path_report *report) {
  return site->own.report(now, connection, *remote, *report);
}

downbeat_cause downbeat_site_close(downbeat_site *site, uint64_t now, uint64_t connection) {
  return site->own.close(now, connection);
}

int downbeat_site_expect(downbeat_site *site, const downbeat_address *remote, uint64_t timeout) {
  return site->own.expect(*remote, static_cast<Nanoseconds>(timeout));
}

downbeat_source downbeat_site_request(downbeat_site *site, uint64_t now, const downbeat_start_request *request,
                                      downbeat_host_start *start) {
  return site->own.request(now, *request, *start);
}

void downbeat_site_get_status(const downbeat_site *site, downbeat_site_status *status) { *status = site->own.status(); }
