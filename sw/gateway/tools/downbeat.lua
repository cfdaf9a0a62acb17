-- SPDX-License-Identifier: BSD-2-Clause-Patent
-- Wireshark's view of the gateway's messages (docs/reference/gateway-protocol.md), on UDP port 4780.
--   tshark -X lua_script:sw/gateway/tools/downbeat.lua -r capture.pcap -O downbeat

local downbeat = Proto("downbeat", "Downbeat gateway")
local types = { "hello", "welcome", "report", "query", "response", "refusal", "relay", "challenge" }
local kinds = { [0] = "none", "transfer", "state", "saved" }

local f = downbeat.fields
f.version = ProtoField.uint8("downbeat.version", "Version")
f.type = ProtoField.uint8("downbeat.type", "Type", base.DEC, types)
f.key = ProtoField.uint8("downbeat.key", "Key")
f.length = ProtoField.uint16("downbeat.length", "Length")
f.reporter = ProtoField.uint32("downbeat.reporter", "Reporter")
f.stamp = ProtoField.uint32("downbeat.stamp", "Stamp (ms)")
f.session = ProtoField.uint64("downbeat.session", "Session", base.HEX)
f.sequence = ProtoField.uint64("downbeat.sequence", "Sequence")
f.nonce = ProtoField.uint64("downbeat.nonce", "Nonce", base.HEX)
f.cookie = ProtoField.uint64("downbeat.cookie", "Cookie", base.HEX)
f.welcomed = ProtoField.uint64("downbeat.welcomed", "Session to use", base.HEX)
f.cause = ProtoField.uint64("downbeat.cause", "Cause")
f.age = ProtoField.uint32("downbeat.age", "Age (ms)")
f.prefix = ProtoField.string("downbeat.prefix", "Prefix")
f.kind = ProtoField.uint8("downbeat.kind", "Kind", base.DEC, kinds)
f.lifetime = ProtoField.uint32("downbeat.lifetime", "Lifetime (ms)")
f.reporters = ProtoField.uint16("downbeat.reporters", "Reporters")
f.transfers = ProtoField.uint32("downbeat.transfers", "Transfers")
f.tag = ProtoField.bytes("downbeat.tag", "Tag")
for _, name in ipairs({ "window", "rtt", "acked", "steady", "slow", "oldest", "connections", "saved_window", "saved_rtt" }) do
  f[name] = ProtoField.double("downbeat." .. name, name)
end
local wrong = ProtoExpert.new("downbeat.wrong", "Not as the protocol has it", expert.group.MALFORMED, expert.severity.ERROR)
downbeat.experts = { wrong }

local reals = {
  { "window", "rtt", "acked" },
  { "steady", "slow", "oldest" },
  { "saved_window", "saved_rtt" },
}

local function prefix(item, tree)
  local family, length = item(0, 1):uint(), item(1, 1):uint()
  local address
  if family == 4 then address = tostring(item(4, 4):ipv4()) else address = tostring(item(4, 16):ipv6()) end
  tree:add(f.prefix, item(0, 20), address .. "/" .. length)
  return address .. "/" .. length
end

local function report(item, tree)
  local kind = item(2, 1):uint()
  local branch = tree:add(downbeat, item, "Report, " .. (kinds[kind] or "unknown kind"))
  branch:append_text(" of " .. prefix(item, branch))
  branch:add(f.kind, item(2, 1))
  for place, name in ipairs(reals[kind] or {}) do branch:add(f[name], item(12 + 8 * place, 8)) end
end

local function response(item, tree)
  local branch = tree:add(downbeat, item, "Response")
  branch:append_text(" for " .. prefix(item, branch))
  branch:add(f.lifetime, item(20, 4))
  for place = 0, 2 do branch:add(f.reporters, item(24 + 2 * place, 2)) end
  branch:add(f.transfers, item(32, 4))
  for place, name in ipairs({ "window", "rtt", "acked", "oldest", "connections", "saved_window", "saved_rtt" }) do
    branch:add(f[name], item(28 + 8 * place, 8))
  end
end

local function items(body, size, each, tree)
  if body:len() == 0 or body:len() % size ~= 0 then return false end
  for at = 0, body:len() - size, size do each(body(at, size), tree) end
  return true
end

function downbeat.dissector(buffer, info, root)
  local length = buffer:len()
  if length < 48 or buffer(0, 2):uint() ~= 0x4442 then return 0 end
  info.cols.protocol = "Downbeat"
  local kind = buffer(3, 1):uint()
  info.cols.info = (types[kind] or "unknown") .. ", reporter " .. buffer(8, 4):uint()
  local tree = root:add(downbeat, buffer())
  local at = { { f.version, 2, 1 }, { f.type, 3, 1 }, { f.key, 4, 1 }, { f.length, 6, 2 }, { f.reporter, 8, 4 },
    { f.stamp, 12, 4 }, { f.session, 16, 8 }, { f.sequence, 24, 8 } }
  for _, field in ipairs(at) do tree:add(field[1], buffer(field[2], field[3])) end
  tree:add(f.tag, buffer(length - 16, 16))
  if buffer(2, 1):uint() ~= 1 or buffer(6, 2):uint() ~= length or length == 48 then
    tree:add_proto_expert_info(wrong)
    return length
  end
  local body, right = buffer(32, length - 48), true
  if kind == 1 or kind == 8 then tree:add(f.nonce, body(0, 8)) tree:add(f.cookie, body(8, 8))
  elseif kind == 2 then tree:add(f.nonce, body(0, 8)) tree:add(f.welcomed, body(8, 8))
  elseif kind == 3 then right = items(body, 52, report, tree)
  elseif kind == 4 then right = items(body, 20, prefix, tree)
  elseif kind == 5 then right = items(body, 92, response, tree)
  elseif kind == 6 then tree:add(f.cause, body(0, 8))
  elseif kind == 7 then tree:add(f.age, body(0, 4)) right = items(body(4):tvb(), 52, report, tree)
  else right = false end
  if not right then tree:add_proto_expert_info(wrong) end
  return length
end

DissectorTable.get("udp.port"):add(4780, downbeat)
