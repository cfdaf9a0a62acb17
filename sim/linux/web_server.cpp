// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "web_server.h"

namespace {

constexpr const char *endOfHeader = "\r\n\r\n";
constexpr std::size_t longestRequest = 8192;

std::string response(const char *status, const std::string &page) {
  const std::string type = "\r\nContent-Type: application/octet-stream\r\nContent-Length: ";
  return std::string("HTTP/1.0 ") + status + type + std::to_string(page.size()) + endOfHeader + page;
}

} // namespace

WebServer::WebServer(downbeat_device *device, const Options &options)
    : Application(device), port_(options.port), left_(options.requests), page_(contentsOf(options.serve)) {
  check(downbeat_sim_listen(device_, port_, nullptr), "listen");
}

void WebServer::advance() {
  for (downbeat_sim_connection connection; downbeat_sim_accept(device_, port_, &connection) == DOWNBEAT_OK;)
    visits_.push_back({.connection = shown_ = connection, .request = {}, .response = {}});
  for (auto visit = visits_.begin(); visit != visits_.end();)
    visit = serve(*visit) ? std::next(visit) : visits_.erase(visit);
  finished_ = left_ == 0 && visits_.empty();
}

bool WebServer::serve(Visit &visit) {
  downbeat_sim_info state;
  if (!check(downbeat_sim_connection_info(device_, visit.connection, &state), "connection")) return false;
  if (state.error != 0)
    return check(downbeat_sim_close(device_, visit.connection), "close"), false; // the visitor has gone
  if (visit.response.empty()) {
    const bool ended = receive(visit.connection, visit.request);
    if (!ended && visit.request.find(endOfHeader) == std::string::npos && visit.request.size() < longestRequest)
      return true;
    visit.response = respond(visit.request);
  }
  if (!send(visit.connection, visit.response, visit.position)) return true;
  if (!visit.shutDown) visit.shutDown = check(downbeat_sim_shutdown(device_, visit.connection), "shutdown");
  if (!state.peer_finished || (state.state != DOWNBEAT_TIME_WAIT && state.state != DOWNBEAT_CLOSED)) return true;
  check(downbeat_sim_close(device_, visit.connection), "close");
  if (left_ > 0) --left_;
  return false;
}

std::string WebServer::respond(const std::string &request) const {
  return request.starts_with("GET ") ? response("200 OK", page_) : response("501 Not Implemented", "only GET\n");
}
