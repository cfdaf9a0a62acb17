/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** A host of a site: its own estimates, and the gateway's where it has responded (libdownbeat_site).
 *
 * Opens, reports and closes go to the host's own estimator, and their results go to the gateway. No other call waits
 * than downbeat_site_expect and downbeat_site_destroy: a request is served from what is there, and a request that the
 * gateway does not have yet goes out, so that its response serves the next. Without a response the host's own estimates
 * hold. Single-threaded, as the estimator.
 */
#ifndef DOWNBEAT_SITE_H
#define DOWNBEAT_SITE_H

#include <downbeat_estimator.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define DOWNBEAT_SITE_ABI 4

typedef struct downbeat_site downbeat_site;

typedef struct downbeat_site_status {
  uint32_t connected; /* 1: the gateway knows this host */
  uint32_t reserved;
  uint64_t reports, reports_dropped, queries; /* sent; waited too long for a gateway; sent */
  uint64_t answers, refused; /* prefixes in responses; datagrams that were no response to this host */
  uint64_t none, own, gateway; /* starts by their source */
} downbeat_site_status;

uint32_t downbeat_site_abi(void);
/** The product's options of the estimator. */
void downbeat_site_defaults(downbeat_estimator_options *options);
/** `uri`: udp://HOST:PORT or unix:///PATH; NULL or empty: no gateway. `key`: the line of `downbeat gateway keys issue`.
 * Nothing waits for the gateway: it may start, and this host may get its route or another address, at any time later.
 * `flush`: ns that a report waits at most for others to go with. NULL on a failure; *problem then says why, until this
 * thread's next call. */
downbeat_site *downbeat_site_create(const downbeat_estimator_options *options, const char *uri, const char *key,
                                    uint64_t flush, const char **problem);
/** Sends the reports that are left. They wait 0.2 s for a gateway that does not know this host yet. */
void downbeat_site_destroy(downbeat_site *site);
/** Readable when the gateway has said something: then downbeat_site_run. -1: there is no gateway. */
int downbeat_site_descriptor(const downbeat_site *site);
/** Sends what is due and takes what has come. */
void downbeat_site_run(downbeat_site *site);

/** As the estimator's; `now` in ns of the reports' clock. */
downbeat_cause downbeat_site_open(downbeat_site *site, uint64_t now, uint64_t connection,
                                  const downbeat_address *remote);
downbeat_cause downbeat_site_report(downbeat_site *site, uint64_t now, uint64_t connection,
                                    const downbeat_address *remote, const downbeat_path_report *report);
downbeat_cause downbeat_site_close(downbeat_site *site, uint64_t now, uint64_t connection);

/** Sends a request to the gateway ahead of a connection, unless it has responded already, and waits for its response,
 * at most `timeout` ns. 1: it has responded, and knows something. */
int downbeat_site_expect(downbeat_site *site, const downbeat_address *remote, uint64_t timeout);
/** The start; always filled in. */
downbeat_source downbeat_site_request(downbeat_site *site, uint64_t now, const downbeat_start_request *request,
                                      downbeat_host_start *start);
void downbeat_site_get_status(const downbeat_site *site, downbeat_site_status *status);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
