// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "script.h"

#include "downbeat_sim_core.h"

namespace churn {

namespace {

using enum Act;

Steps operator+(Steps first, const Steps &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// How to get from ESTABLISHED to each later state and stay there (RFC 9293 3.3.2).
struct Way {
  const char *name;
  Steps steps;
};
const std::vector<Way> &ways() {
  static const std::vector<Way> all{
      {"ESTABLISHED", {}},
      {"FIN-WAIT-1", {{deaf}, {mute}, {shutdown}, {reach, DOWNBEAT_FIN_WAIT_1}}},
      {"FIN-WAIT-2", {{shutdown}, {reach, DOWNBEAT_FIN_WAIT_2}}},
      {"CLOSE-WAIT", {{finish}, {reach, DOWNBEAT_CLOSE_WAIT}}},
      {"CLOSING", {{deaf}, {shutdown}, {reach, DOWNBEAT_FIN_WAIT_1}, {finish}, {reach, DOWNBEAT_CLOSING}}},
      {"LAST-ACK", {{finish}, {reach, DOWNBEAT_CLOSE_WAIT}, {deaf}, {mute}, {shutdown}, {reach, DOWNBEAT_LAST_ACK}}},
      {"TIME-WAIT", {{shutdown}, {reach, DOWNBEAT_FIN_WAIT_2}, {finish}, {reach, DOWNBEAT_TIME_WAIT}}}};
  return all;
}

std::vector<Script> makeEndings() {
  std::vector<Script> all{
      {"application first",
       {{shutdown}, {reach, DOWNBEAT_FIN_WAIT_2}, {finish}, {reach, DOWNBEAT_TIME_WAIT}, {settled}, {ended}, {close}}},
      {"application first, forgotten in TIME-WAIT",
       {{shutdown}, {reach, DOWNBEAT_FIN_WAIT_2}, {finish}, {reach, DOWNBEAT_TIME_WAIT}, {settled}, {close}}},
      {"peer first", {{finish}, {reach, DOWNBEAT_CLOSE_WAIT}, {shutdown}, {settled}, {ended}, {close}}},
      {"peer first, then close", {{finish}, {reach, DOWNBEAT_CLOSE_WAIT}, {close}, {settled}}},
      {"close, then peer", {{close}, {finish}, {settled}}},
      {"FINs cross", {{shutdown}, {finish}, {settled}, {ended}, {close}}},
      {"FINs cross, both lost once",
       {{deaf},
        {shutdown},
        {reach, DOWNBEAT_FIN_WAIT_1},
        {finish},
        {reach, DOWNBEAT_CLOSING},
        {hear},
        {settled},
        {ended},
        {close}}},
      {"half-closed by the application",
       {{shutdown},
        {reach, DOWNBEAT_FIN_WAIT_2},
        {peerData, 2500},
        {delivered},
        {finish},
        {settled},
        {ended},
        {close}}},
      {"half-closed by the peer",
       {{finish}, {reach, DOWNBEAT_CLOSE_WAIT}, {send, 2500}, {delivered}, {shutdown}, {settled}, {ended}, {close}}},
      {"data and FIN at once, both ways",
       {{send, 3000}, {peerData, 3000}, {shutdown}, {finish}, {settled}, {ended}, {close}}},
      {"closed with data unread", {{unread, 5000}, {delivered}, {close}, {resetSeen}}},
      {"reset with data unread", {{unread, 5000}, {delivered}, {peerReset}, {ended, DOWNBEAT_RESET}, {close}}},
      {"peer first, closed with data unread",
       {{unread, 5000}, {finish}, {delivered}, {reach, DOWNBEAT_CLOSE_WAIT}, {close}, {resetSeen}}},
      {"data after close", {{close}, {finHeard}, {peerData, 100}, {resetSeen}}},
      {"close, and the peer never", {{close}}},
      {"silent with data under way", {{deaf}, {mute}, {send, 1000}, {ended, DOWNBEAT_TIMED_OUT}, {close}}},
      {"silent in FIN-WAIT-1", ways()[1].steps + Steps{{ended, DOWNBEAT_TIMED_OUT}, {close}}},
      {"silent in CLOSING", ways()[4].steps + Steps{{mute}, {ended, DOWNBEAT_TIMED_OUT}, {close}}},
      {"silent in LAST-ACK", ways()[5].steps + Steps{{ended, DOWNBEAT_TIMED_OUT}, {close}}},
  };
  for (const auto &[name, steps] : ways()) {
    const bool timeWait = name == std::string("TIME-WAIT");
    // RFC 1337: a RST does not end TIME-WAIT.
    all.push_back({std::string("peer resets in ") + name,
                   steps + Steps{{peerReset}, {ended, timeWait ? 0 : DOWNBEAT_RESET}, {close}}});
    all.push_back({std::string("application aborts in ") + name,
                   steps + (timeWait ? Steps{{abort}} : Steps{{abort}, {resetSeen}})});
  }
  return all;
}

} // namespace

const std::vector<Script> &openings() {
  static const std::vector<Script> all{
      {"passive", {{peerConnect}, {established}}},
      {"active", {{connect}, {established}}},
      {"simultaneous",
       {{hold}, {connect}, {heard}, {peerConnect}, {reach, DOWNBEAT_SYN_RECEIVED}, {hear}, {established}}},
      {"simultaneous, SYN lost",
       {{deaf}, {connect}, {heard}, {peerConnect}, {reach, DOWNBEAT_SYN_RECEIVED}, {hear}, {established}}}};
  return all;
}

const std::vector<Script> &endings() {
  static const std::vector<Script> all = makeEndings();
  return all;
}

const std::vector<Script> &failedOpenings() {
  static const std::vector<Script> all{
      {"SYN never completed", {{peerConnect}, {heard}, {deaf}, {mute}}},
      {"SYN, then RST", {{peerConnect}, {heard}, {mute}, {peerReset}}},
      {"nobody answers", {{mute}, {connect}, {ended, DOWNBEAT_TIMED_OUT}, {close}}},
      {"refused", {{mute}, {connect}, {heard}, {peerReset}, {ended, DOWNBEAT_REFUSED}, {close}}},
      {"aborted in SYN-SENT", {{mute}, {connect}, {heard}, {abort}}},
      {"closed in SYN-SENT", {{mute}, {connect}, {heard}, {close}}},
      {"simultaneous, then silence",
       {{deaf},
        {connect},
        {heard},
        {peerConnect},
        {reach, DOWNBEAT_SYN_RECEIVED},
        {mute},
        {ended, DOWNBEAT_TIMED_OUT},
        {close}}},
      {"simultaneous, then RST",
       {{deaf},
        {connect},
        {heard},
        {peerConnect},
        {reach, DOWNBEAT_SYN_RECEIVED},
        {mute},
        {peerReset},
        {ended, DOWNBEAT_REFUSED},
        {close}}},
      {"simultaneous, then abort",
       {{deaf}, {connect}, {heard}, {peerConnect}, {reach, DOWNBEAT_SYN_RECEIVED}, {mute}, {abort}, {resetSeen}}}};
  return all;
}

} // namespace churn
