// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "web_client.h"

#include <fstream>

WebClient::WebClient(downbeat_device *device, const Options &options)
    : Application(device), path_(options.receive), request_("GET " + options.fetch + " HTTP/1.0\r\nUser-Agent: downbeat\r\n\r\n") {
  check(downbeat_connect(device_, options.peerIp, options.port, 0, nullptr, &shown_), "connect");
}

void WebClient::advance() {
  downbeat_info state;
  if (!check(downbeat_connection_info(device_, shown_, &state), "connection") || !check(state.error, "connection")) return;
  if (!send(shown_, request_, position_)) return;
  if (!kept_) {
    if (!receive(shown_, answer_)) return;
    keep();
    check(downbeat_shutdown(device_, shown_), "shutdown");
  }
  finished_ = state.state == DOWNBEAT_CLOSED || state.state == DOWNBEAT_TIME_WAIT;
}

void WebClient::keep() {
  kept_ = true;
  const auto status = answer_.find(" 200 ");
  const auto header = answer_.find("\r\n\r\n");
  if (!answer_.starts_with("HTTP/1.") || header == std::string::npos || status > answer_.find("\r\n")) {
    failure_ = "the server answered: " + answer_.substr(0, answer_.find("\r\n"));
    return;
  }
  std::ofstream file(path_, std::ios::binary);
  file.write(answer_.data() + header + 4, static_cast<std::streamsize>(answer_.size() - header - 4));
  if (!file.flush()) failure_ = "cannot write " + path_;
}
