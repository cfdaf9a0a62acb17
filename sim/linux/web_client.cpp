// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "web_client.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::string_view endOfHeader = "\r\n\r\n";
constexpr const char *lengthField = "\r\ncontent-length:";

} // namespace

WebClient::WebClient(downbeat_device *device, const Options &options)
    : Application(device), path_(options.fetch), file_(options.receive, std::ios::binary) {
  if (!file_) failure_ = "cannot write " + options.receive;
  for (std::uint64_t i = 0; i < options.connections; ++i) {
    downbeat_sim_connection connection;
    check(downbeat_sim_connect(device_, options.peerIp, options.port, 0, nullptr, &connection), "connect");
    visits_.push_back({.connection = shown_ = connection, .left = options.requests, .request = {}, .response = {}});
  }
}

void WebClient::advance() {
  bool all = true;
  for (Visit &visit : visits_) all &= proceed(visit);
  if (all && !file_.flush()) failure_ = "cannot write what was received";
  finished_ = all;
}

bool WebClient::proceed(Visit &visit) {
  downbeat_sim_info state;
  if (!check(downbeat_sim_connection_info(device_, visit.connection, &state), "connection")) return false;
  if (!check(state.error, "connection")) return false;
  while (!visit.over) {
    if (visit.request.empty()) {
      const std::string more = visit.left == 1 ? "\r\nConnection: close" : "";
      visit.request = "GET " + path_ + " HTTP/1.1\r\nHost: peer" + more + std::string(endOfHeader);
    }
    if (!send(visit.connection, visit.request, visit.position)) return false;
    const bool ended = receive(visit.connection, visit.response);
    if (!keep(visit)) {
      if (ended && failure_.empty())
        failure_ = "the server ended a response after " + std::to_string(visit.response.size()) + " bytes";
      return false;
    }
    visit.request.clear();
    visit.position = 0;
    visit.over = --visit.left == 0;
  }
  check(downbeat_sim_shutdown(device_, visit.connection), "shutdown");
  return state.state == DOWNBEAT_CLOSED || state.state == DOWNBEAT_TIME_WAIT;
}

bool WebClient::keep(Visit &visit) {
  const auto end = visit.response.find(endOfHeader);
  if (end == std::string::npos) return false;
  const std::string header = visit.response.substr(0, end);
  const char *length = strcasestr(header.c_str(), lengthField);
  if (!header.starts_with("HTTP/1.") || header.find(" 200 ") > header.find("\r\n") || length == nullptr) {
    failure_ = "the server answered: " + header.substr(0, header.find("\r\n")) +
               (length == nullptr ? ", without a Content-Length" : "");
    return false;
  }
  const std::size_t body = end + endOfHeader.size(),
                    size = std::strtoull(length + std::strlen(lengthField), nullptr, 10);
  if (visit.response.size() < body + size) return false;
  file_.write(visit.response.data() + body, static_cast<std::streamsize>(size));
  visit.response.erase(0, body + size);
  return true;
}
