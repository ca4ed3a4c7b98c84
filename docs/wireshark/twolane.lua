-- Twolane in Wireshark and tshark: the envelope of both versions, handshake messages, and the packets of our own tap.
-- What the fields mean is in docs/wire.md; how to install this file is in the README beside it.

local LINK_USER0 = (wtap_encaps or wtap).USER0

local HEADER_LEN = { [1] = 17, [2] = 21 }
local PREFIX_LEN = 5
local MESSAGE_PREFIX_LEN = 4
local MESSAGE_MAX = 4096
local BODY_MAX = 64 * 1024 * 1024
-- The largest body that the heuristic believes, and how far it and the summary look into a text.
local PLAUSIBLE_BODY_MAX = 4 * 1024 * 1024
local GLANCE = 512

local TYPES = {
  [0] = "Request", "Response", "Push", "StreamData", "StreamEnd", "Error", "Cancel", "Ping", "Pong", "Hello",
  "HelloAck", "Goodbye",
}
local STREAM_DATA = 3
local PURE_TYPES = { [6] = true, [7] = true, [8] = true, [11] = true }
local MAY_BE_SHEDDABLE = { [2] = true, [3] = true }
local PRIORITIES = { [0] = "Passive", "Interactive", "Background", "illegal" }
local ADMISSIONS = { [0] = "Normal", "Expedite", "Sheddable", "illegal" }

local twolane = Proto("twolane", "Twolane")
local tap = Proto("twolane_tap", "Twolane tap")

local field = {
  len = ProtoField.uint32("twolane.len", "Body length", base.DEC, nil, nil, "Bytes of body after the header"),
  version = ProtoField.uint8("twolane.version", "Version", base.DEC, nil, nil, "It decides how long the header is"),
  type = ProtoField.uint8("twolane.type", "Type", base.DEC, TYPES),
  flags = ProtoField.uint8("twolane.flags", "Flags", base.HEX),
  binary = ProtoField.bool("twolane.flags.binary", "BINARY", 8, nil, 0x01, "The body is not text"),
  priority = ProtoField.uint8("twolane.flags.priority", "PRIORITY", base.DEC, PRIORITIES, 0x06),
  last = ProtoField.bool("twolane.flags.last", "LAST", 8, nil, 0x08, "Ends its stream"),
  admission = ProtoField.uint8("twolane.flags.admission", "ADMISSION", base.DEC, ADMISSIONS, 0x30),
  daemon_origin = ProtoField.bool("twolane.flags.daemon_origin", "DAEMON_ORIGIN", 8, nil, 0x40),
  subscription = ProtoField.bool("twolane.flags.subscription", "SUBSCRIPTION", 8, nil, 0x80),
  channel = ProtoField.uint16("twolane.channel", "Channel", base.DEC, nil, nil, "On a lane socket: the generation"),
  epoch = ProtoField.uint32("twolane.epoch", "Epoch", base.DEC, nil, nil, "Version 2 only"),
  corr = ProtoField.uint64("twolane.corr", "Corr", base.DEC, nil, nil, "Which step or request this belongs to"),
  lane = ProtoField.string("twolane.lane", "Lane", base.ASCII, "control, display or none"),
  body = ProtoField.bytes("twolane.body", "Body"),
  message_len = ProtoField.uint32("twolane.handshake.len", "Message length", base.DEC),
  stage = ProtoField.string("twolane.handshake.stage", "Message", base.ASCII, "ClientHello, ServerProof or ClientAuth"),
  packet_len = ProtoField.uint32("twolane.connector.len", "Packet length", base.DEC),
  undecoded = ProtoField.bytes("twolane.undecoded", "Not decoded"),
  connection = ProtoField.uint32("twolane.tap.connection", "Connection", base.DEC),
  endpoint = ProtoField.string("twolane.tap.endpoint", "Endpoint"),
  kind = ProtoField.string("twolane.tap.kind", "Kind", base.ASCII, "frame, handshake or connector"),
  direction = ProtoField.string("twolane.tap.direction", "Direction", base.ASCII, "a is the side that connected"),
  note = ProtoField.string("twolane.tap.note", "Note", base.ASCII, "Parts of a long unit, and units not written"),
}
twolane.fields = {
  field.len, field.version, field.type, field.flags, field.binary, field.priority, field.last, field.admission,
  field.daemon_origin, field.subscription, field.channel, field.epoch, field.corr, field.lane, field.body,
  field.message_len, field.stage, field.packet_len, field.undecoded,
}
tap.fields = { field.connection, field.endpoint, field.kind, field.direction, field.note }

local illegal = ProtoExpert.new("twolane.illegal", "Breaks a rule", expert.group.MALFORMED, expert.severity.ERROR)
local cut = ProtoExpert.new("twolane.cut", "The capture lacks the end", expert.group.UNDECODED, expert.severity.WARN)
twolane.experts = { illegal, cut }

local comments = Field.new("frame.comment")

-- The numbers of a header that is all there, and the first rule that it breaks.
local function read_header(tvb)
  local header = { version = tvb(4, 1):uint(), len = tvb(0, 4):le_uint() }
  header.size = HEADER_LEN[header.version]
  if not header.size then
    return header, "unknown version " .. header.version
  end
  if tvb:len() < header.size then
    return header, "header cut short"
  end
  local flags = tvb(6, 1):uint()
  header.type = tvb(5, 1):uint()
  header.binary = bit.band(flags, 0x01) ~= 0
  header.priority = bit.rshift(bit.band(flags, 0x06), 1)
  header.last = bit.band(flags, 0x08) ~= 0
  header.admission = bit.rshift(bit.band(flags, 0x30), 4)
  header.channel = tvb(7, 2):le_uint()
  local is_v2 = header.version == 2
  if not TYPES[header.type] then
    return header, "unknown type " .. header.type
  elseif not is_v2 and bit.band(flags, 0xf0) ~= 0 then
    return header, "reserved flags set"
  elseif header.priority == 3 then
    return header, "priority 3"
  elseif is_v2 and header.admission == 3 then
    return header, "admission 3"
  elseif is_v2 and header.admission == 2 and not MAY_BE_SHEDDABLE[header.type] then
    return header, "Sheddable on " .. TYPES[header.type]
  elseif PURE_TYPES[header.type] and header.len > 0 then
    return header, "a body behind a pure header"
  elseif is_v2 and header.channel == 0 and tvb(9, 4):le_uint() ~= 0 then
    return header, "an epoch without a channel"
  elseif header.len > BODY_MAX then
    return header, "body over 64 MiB"
  end
  return header, nil
end

local function lane_of(header)
  if header.type ~= STREAM_DATA or header.binary then
    return "none"
  elseif header.priority == 1 then
    return header.admission == 2 and "none" or "control"
  end
  return header.priority == 2 and "display" or "none"
end

local function add_header(tree, tvb, header)
  tree:add_le(field.len, tvb(0, 4))
  tree:add(field.version, tvb(4, 1))
  if not header.type then
    return
  end
  tree:add(field.type, tvb(5, 1))
  local flags = tree:add(field.flags, tvb(6, 1))
  for _, one in ipairs({ field.binary, field.priority, field.last }) do
    flags:add(one, tvb(6, 1))
  end
  if header.version == 2 then
    for _, one in ipairs({ field.admission, field.daemon_origin, field.subscription }) do
      flags:add(one, tvb(6, 1))
    end
    tree:add_le(field.epoch, tvb(9, 4))
  end
  tree:add_le(field.channel, tvb(7, 2))
  tree:add_le(field.corr, tvb(header.size - 8, 8))
  tree:add(field.lane, lane_of(header)):set_generated()
end

local function begins_like_json(range)
  local text = range(0, math.min(range:len(), GLANCE)):raw()
  return text:match("^[ \t\r\n]*[{%[]") ~= nil
end

-- The summary is ours: what else is written behind the fence is taken away.
local function add_json(range, pinfo, tree)
  Dissector.get("json"):call(range:tvb(), pinfo, tree)
  pinfo.cols.protocol = "Twolane"
  pinfo.cols.info:clear()
end

-- Adds to the summary of a packet, which may hold several units.
local function say(pinfo, text)
  local is_more = tostring(pinfo.cols.protocol) == "Twolane"
  pinfo.cols.protocol = "Twolane"
  pinfo.cols.info:set(is_more and " | " .. text or text)
  pinfo.cols.info:fence()
end

local function frame_summary(header, range)
  local words = { TYPES[header.type] or "frame" }
  if range and header.type == STREAM_DATA then
    words[1] = range(0, math.min(range:len(), GLANCE)):raw():match('"type"%s*:%s*"([%w_]+)"') or words[1]
    table.insert(words, lane_of(header))
  end
  if header.channel and header.channel > 0 then
    table.insert(words, "gen " .. header.channel)
  end
  table.insert(words, header.last and "LAST" or nil)
  return table.concat(words, " ")
end

local function dissect_frame(tvb, pinfo, root)
  local tree = root:add(twolane, tvb(), "Twolane frame")
  if tvb:len() < PREFIX_LEN then
    tree:add_proto_expert_info(cut, "prefix cut short")
    return say(pinfo, "frame, cut")
  end
  local header, fault = read_header(tvb)
  add_header(tree, tvb, header)
  if fault then
    tree:add_proto_expert_info(illegal, fault)
    return say(pinfo, "frame: " .. fault)
  end
  local there = math.min(header.len, tvb:len() - header.size)
  if there < header.len then
    tree:add_proto_expert_info(cut, string.format("%d of %d bytes of body", there, header.len))
  end
  local body = there > 0 and tvb(header.size, there) or nil
  local summary = frame_summary(header, body)
  say(pinfo, summary)
  tree:append_text(": " .. summary)
  if body then
    tree:add(field.body, body)
    if not header.binary and there == header.len and begins_like_json(body) then
      add_json(body, pinfo, root)
    end
  end
end

local function stage_of(text)
  if text:find('"client_auth"', 1, true) then
    return "ClientAuth"
  elseif text:find('"server_nonce"', 1, true) then
    return "ServerProof"
  end
  return text:find('"client_nonce"', 1, true) and "ClientHello" or "unknown"
end

local function add_message(tree, text, pinfo, root)
  local stage = stage_of(text:raw())
  tree:add(field.stage, stage):set_generated()
  tree:append_text(": " .. stage)
  say(pinfo, stage)
  if text:raw():find("}", 1, true) then
    add_json(text, pinfo, root)
  end
end

local function dissect_message(tvb, pinfo, root)
  local tree = root:add(twolane, tvb(), "Twolane handshake")
  if tvb:len() <= MESSAGE_PREFIX_LEN then
    tree:add_proto_expert_info(cut, "message cut short")
    return say(pinfo, "handshake, cut")
  end
  local len = tvb(0, MESSAGE_PREFIX_LEN):le_uint()
  local there = math.min(len, tvb:len() - MESSAGE_PREFIX_LEN)
  tree:add_le(field.message_len, tvb(0, MESSAGE_PREFIX_LEN))
  if there < len then
    tree:add_proto_expert_info(cut, string.format("%d of %d bytes", there, len))
  end
  add_message(tree, tvb(MESSAGE_PREFIX_LEN, there), pinfo, root)
end

local function is_text(byte)
  return byte == 0x7b or byte == 0x20 or byte == 0x09 or byte == 0x0d or byte == 0x0a
end

-- A message whose length went ahead in a segment of its own, before anything was known of the connection: up to the
-- end of its object, which holds no other.
local function text_len(tvb, offset)
  if tvb(offset, 1):uint() ~= 0x7b then
    return nil
  end
  local text = tvb(offset, math.min(tvb:len() - offset, MESSAGE_MAX)):raw()
  return text:match('^{%s*"[cdrs]%a+_?%a*"%s*:') and text:find("}", 1, true)
end

-- What begins at `offset`, and how long it is; five bytes of it are there.
local function sight(tvb, offset)
  local len = tvb(offset, 4):le_uint()
  local fifth = tvb(offset + 4, 1):uint()
  local text = text_len(tvb, offset)
  if is_text(fifth) and len >= 1 and len <= MESSAGE_MAX then
    return "message", MESSAGE_PREFIX_LEN + len
  elseif HEADER_LEN[fifth] and len <= BODY_MAX then
    return "frame", HEADER_LEN[fifth] + len
  elseif text then
    return "text", text
  end
  return nil, tvb:len() - offset
end

local function pdu_len(tvb, _, offset)
  local _, len = sight(tvb, offset)
  return len
end

local function dissect_pdu(tvb, pinfo, root)
  local kind = sight(tvb, 0)
  if kind == "message" then
    dissect_message(tvb, pinfo, root)
  elseif kind == "frame" then
    dissect_frame(tvb, pinfo, root)
  elseif kind == "text" then
    add_message(root:add(twolane, tvb(), "Twolane handshake"), tvb(), pinfo, root)
  else
    local tree = root:add(twolane, tvb(), "Twolane, out of step")
    tree:add(field.undecoded, tvb())
    say(pinfo, "not decoded")
  end
  return tvb:len()
end

function twolane.dissector(tvb, pinfo, root)
  dissect_tcp_pdus(tvb, root, PREFIX_LEN, pdu_len, dissect_pdu, true)
  return tvb:len()
end

-- Whether a segment begins with a handshake message or a frame of a lane, beyond reasonable doubt.
local function is_ours(tvb)
  if tvb:len() < PREFIX_LEN then
    return false
  end
  local kind = sight(tvb, 0)
  if kind == "message" or kind == "text" then
    local from = kind == "message" and MESSAGE_PREFIX_LEN or 0
    local text = tvb(from, math.min(tvb:len() - from, GLANCE)):raw()
    return stage_of(text) ~= "unknown" or text:find('"daemon_id"', 1, true) ~= nil
  elseif kind ~= "frame" then
    return false
  end
  local header, fault = read_header(tvb)
  if fault or header.len > PLAUSIBLE_BODY_MAX or tvb:len() <= header.size then
    return false
  end
  return lane_of(header) ~= "none" and tvb(header.size, 1):uint() == 0x7b
end

twolane:register_heuristic("tcp", function(tvb, pinfo, root)
  if not is_ours(tvb) then
    return false
  end
  pinfo.conversation = twolane
  twolane.dissector(tvb, pinfo, root)
  return true
end)
DissectorTable.get("tcp.port"):add_for_decode_as(twolane)

-- The label of a tapped packet: `twolane conn=N endpoint=NAME kind=KIND`, then words about parts and losses.
local function label()
  for _, comment in ipairs({ comments() }) do
    local connection, endpoint, kind, rest =
      comment.value:match("^twolane conn=(%d+) endpoint=(%S*) kind=(%a+) ?(.*)$")
    if connection then
      return { connection = tonumber(connection), endpoint = endpoint, kind = kind, rest = rest }
    end
  end
  return nil
end

local function dissect_connector(tvb, pinfo, root)
  local tree = root:add(twolane, tvb(), "Twolane connector packet")
  if tvb:len() >= MESSAGE_PREFIX_LEN then
    tree:add_le(field.packet_len, tvb(0, MESSAGE_PREFIX_LEN))
  end
  say(pinfo, "connector packet")
end

function tap.dissector(tvb, pinfo, root)
  local of = label()
  -- Word by word: inbound is what the server received.
  local direction = ({ [0] = "b>a", [1] = "a>b" })[pinfo.p2p_dir]
  local tree = root:add(tap, tvb(0, 0), "Twolane tap")
  local text = direction or "?"
  if of then
    tree:add(field.connection, of.connection):set_generated()
    tree:add(field.endpoint, of.endpoint):set_generated()
    tree:add(field.kind, of.kind):set_generated()
    text = string.format("connection %d, %s", of.connection, text)
    if of.rest ~= "" then
      tree:add(field.note, of.rest):set_generated()
      text = text .. ", " .. of.rest
    end
  end
  tree:append_text(": " .. text)
  if direction then
    tree:add(field.direction, direction):set_generated()
    pinfo.cols.src = direction:sub(1, 1)
    pinfo.cols.dst = direction:sub(3, 3)
  end
  local part = of and of.rest:match("part=(%d+)/")
  local is_unit = of and not of.rest:find("lost=", 1, true) and not of.rest:find("joined=", 1, true)
  if of and (not is_unit or (part and part ~= "1")) then
    return say(pinfo, of.rest)
  elseif of and of.kind == "connector" then
    dissect_connector(tvb, pinfo, root)
  elseif of and of.kind == "handshake" then
    dissect_message(tvb, pinfo, root)
  elseif tvb:len() >= PREFIX_LEN and not of then
    dissect_pdu(tvb, pinfo, root)
  else
    dissect_frame(tvb, pinfo, root)
  end
end

DissectorTable.get("wtap_encap"):add(LINK_USER0, tap)
