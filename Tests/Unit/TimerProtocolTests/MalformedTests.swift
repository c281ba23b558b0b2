import Testing
import TimerCore
import TimerProtocol

@Suite struct `A message that is no request` {
  static let notJSON: [String] = [
    "", " ", "tea", "{", "{\"command\":\"list\"", "{\"command\":\"list\"}}",
    "{\"command\":\"list\",}",
    "{,}", "{command:\"list\"}", "{'command':'list'}", "{\"command\" \"list\"}",
    "{\"command\":\"list\"} {}", "{\"command\":\"list\"} //", "\u{FEFF}{\"command\":\"list\"}",
    "{\"command\":\"li\nst\"}", "{\"command\":\"list\0\"}", "{\"command\":\"list\"}\0",
    "{\"command\":\"list}", #"{"command":"\x41"}"#, #"{"command":"\u12"}"#,
    #"{"command":"\u12G4"}"#,
    #"{"command":"\ud83c"}"#, #"{"command":"\udf75\ud83c"}"#, #"{"command":"\ud83c\n"}"#,
    #"{"command":"\ud83c\u0041"}"#, #"{"command":"get","timer":"a","timer":"a"}"#,
    #"{"command":"get","\u0074imer":"a","timer":"b"}"#, "{\"command\":tru}", "{\"command\":TRUE}",
    "{\"id\":01}", "{\"id\":+1}", "{\"id\":.5}", "{\"id\":1.}", "{\"id\":1e}", "{\"id\":-}",
    "{\"id\":0x1}", "{\"id\":NaN}", "{\"id\":Infinity}", "{\"id\":-Infinity}",
    "{\"timers\":[1,]}", "{\"timers\":[,1]}", "{\"timers\":[1 2]}", "{\"timers\":[}",
    "{\"command\":\"list\"\u{A0}}",
  ]

  @Test(arguments: notJSON)
  func `is refused as not JSON`(_ text: String) {
    let refusal = refusal(of: text)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.isEmpty == false)
  }

  @Test(arguments: ["[]", "5", "\"list\"", "null", "true", "[{\"command\":\"list\"}]"])
  func `is refused as no object`(_ text: String) {
    #expect(refusal(of: text)?.code == .badRequest)
  }

  @Test(
    arguments: [
      [0xFF], Array("{\"command\":\"".utf8) + [0xC3] + Array("\"}".utf8),
      Array("{\"id\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\",\"command\":\"list\"}".utf8),
    ] as [[UInt8]])
  func `is refused as not UTF-8`(_ bytes: [UInt8]) {
    #expect(refusal(of: bytes)?.code == .badRequest)
  }

  @Test(arguments: ["[", "{\"a\":"])
  func `is refused when it is nested 10 000 deep`(_ opening: String) {
    let text = "{\"command\":\"list\",\"x\":" + String(repeating: opening, count: 10_000)

    #expect(refusal(of: text)?.code == .badRequest)
  }

  @Test func `is refused quickly with thousands of fields`() {
    let fields = (0..<1_000).map { "\"f\($0)\":0" }.joined(separator: ",")

    #expect(refusal(of: "{\(fields)}")?.code == .badRequest)
  }

  @Test func `is refused with the name of a repeated field`() {
    let refusal = refusal(of: #"{"command":"start","duration":5,"duration":6}"#)

    #expect(refusal?.message.contains("\"duration\"") == true)
  }
}

@Suite struct `An unknown field` {
  @Test(arguments: Commands.all)
  func `is refused by name, whatever the command`(_ command: String) {
    let refusal = refusal(of: #"{"command":"\#(command)","timr":"tea"}"#)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("\"timr\"") == true)
  }

  @Test(arguments: [
    ("pause", "duration"), ("update", "force"), ("start", "seconds"), ("list", "timer"),
    ("get", "ifRevision"), ("finishAll", "timers"), ("unsubscribe", "interval"), ("get", "at"),
    ("reset", "resetTime"), ("lap", "seconds"), ("message", "signal"), ("signal", "text"),
    ("update", "text"), ("start", "signal"), ("sync", "timer"), ("subscribe", "requestId"),
  ])
  func `may be another command's`(_ command: String, _ field: String) {
    let refusal = refusal(of: #"{"command":"\#(command)","\#(field)":1}"#)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("\"\(field)\"") == true)
  }

  @Test(arguments: ["Duration", "DURATION", "duration ", "dur\u{0430}tion"])
  func `is one in another spelling`(_ field: String) {
    let refusal = refusal(of: #"{"command":"start","\#(field)":5}"#)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains(field) == true)
  }

  @Test func `in both spellings of é is two fields, not one twice`() {
    let refusal = refusal(of: "{\"command\":\"list\",\"\u{E9}\":1,\"e\u{301}\":1}")

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("twice") == false)
  }
}

/// The names that stand in the protocol page's table.
enum Commands {
  static let all = [
    "start", "update", "pause", "resume", "finish", "finishAll", "reset", "addRemainingTime",
    "addElapsedTime", "lap", "message", "signal", "remove", "get", "list", "subscribe",
    "unsubscribe", "sync", "authenticate",
  ]
}

@Suite struct `A command's name` {
  @Test(arguments: ["Start", "stop", "", " start", "finish all", "🍵"])
  func `is one of the table's`(_ name: String) {
    let refusal = refusal(of: #"{"command":"\#(name)"}"#)

    #expect(refusal?.code == .unknownCommand)
    #expect(refusal?.message.contains("start") == true)
  }

  @Test(arguments: ["5", "null", "true", "[\"start\"]", "{}"])
  func `is a string`(_ value: String) {
    #expect(refusal(of: #"{"command":\#(value)}"#)?.code == .badRequest)
  }

  @Test(arguments: ["{}", #"{"id":1}"#, #"{"id":1,"timer":"tea"}"#])
  func `can't be left out`(_ text: String) {
    let refusal = refusal(of: text)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("\"command\"") == true)
  }
}

@Suite struct `A field` {
  static let wrongTypes: [(command: String, field: String, values: [String])] = [
    ("start", "timer", ["5", "null", "[\"tea\"]", "{}", "true"]),
    ("start", "duration", ["\"5\"", "null", "[5]", "true", "{}"]),
    ("start", "type", ["5", "\"Timer\"", "\"countdown\"", "null", "\"\""]),
    ("start", "atZero", ["0", "\"stop\"", "\"Finish\"", "null"]),
    ("start", "title", ["5", "null", "[]", "{}"]),
    ("start", "warnings", ["60", "\"60\"", "[\"60\"]", "[null]", "[[60]]", "{}", "null"]),
    ("start", "force", ["1", "\"true\"", "null", "[]"]),
    ("pause", "ifRevision", ["\"12\"", "1.5", "-1", "null", "true", "1e30"]),
    ("pause", "at", ["\"now\"", "null", "true", "[1]"]),
    ("pause", "requestId", ["5", "null", "\"\"", "[]"]),
    ("finish", "resetTime", ["1", "\"yes\"", "null"]),
    ("addRemainingTime", "seconds", ["\"60\"", "null", "true", "[60]"]),
    ("addElapsedTime", "seconds", ["\"60\"", "null", "true", "{}"]),
    ("message", "text", ["5", "true", "[\"x\"]", "{}", "\"a\\tb\"", "\"\\u0000\""]),
    ("signal", "signal", ["5", "null", "true", "[]", "\"Flash\"", "\"\"", "\"off\""]),
    ("subscribe", "interval", ["\"1\"", "null", "true"]),
    ("subscribe", "timers", ["5", "\"tea\"", "null", "[5]", "{}", "[null]", "[\"tea\",5]"]),
    ("unsubscribe", "timers", ["5", "\"tea\"", "null", "[5]"]),
    ("sync", "clientTime", ["\"5\"", "null", "true", "[]"]),
    ("authenticate", "token", ["5", "null", "[]"]),
  ]

  @Test(arguments: wrongTypes.flatMap { row in row.values.map { (row.command, row.field, $0) } })
  func `of a wrong type is refused by name`(_ row: (command: String, field: String, value: String))
  {
    let others = row.command.hasPrefix("add") && row.field != "seconds" ? ",\"seconds\":1" : ""
    let refusal = refusal(
      of: #"{"command":"\#(row.command)","\#(row.field)":\#(row.value)\#(others)}"#)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("\"\(row.field)\"") == true)
  }

  @Test(arguments: [
    ("addRemainingTime", "seconds"), ("addElapsedTime", "seconds"), ("authenticate", "token"),
    ("message", "text"), ("signal", "signal"),
  ])
  func `that is needed is asked for`(_ command: String, _ field: String) {
    let refusal = refusal(of: #"{"command":"\#(command)"}"#)

    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("\"\(field)\"") == true)
  }

  @Test func `of an update has to be one at least`() {
    #expect(refusal(of: #"{"command":"update","timer":"tea"}"#)?.code == .badRequest)
  }

  @Test(
    arguments: [
      ("start", "duration", "0", 0.000001), ("start", "duration", "-5", 0.000001),
      ("start", "duration", "31536000.000001", 31_536_000),
      ("start", "duration", "1e999", 31_536_000),
      ("start", "duration", "-1e999", 0.000001), ("start", "duration", "0e999", 0.000001),
      ("subscribe", "interval", "0.05", 0.1), ("subscribe", "interval", "-1", 0.1),
      ("subscribe", "interval", "3600.000001", 3600), ("subscribe", "interval", "1e999", 3600),
    ] as [(String, String, String, Seconds)])
  func `out of its range is refused with the nearest valid value`(
    _ command: String, _ field: String, _ value: String, _ limit: Seconds
  ) {
    let refusal = refusal(of: #"{"command":"\#(command)","\#(field)":\#(value)}"#)

    #expect(refusal?.code == .outOfRange)
    #expect(refusal?.limit == limit)
    #expect(refusal?.message.contains("\"\(field)\"") == true)
  }

  @Test(arguments: ["-1", "31536001", "1e999"])
  func `of warnings is within a countdown`(_ value: String) {
    #expect(refusal(of: #"{"command":"start","warnings":[60,\#(value)]}"#)?.code == .outOfRange)
  }

  @Test func `of warnings has 16 elements at most`() {
    let sixteen = Array(repeating: "1", count: 16).joined(separator: ",")

    #expect(refusal(of: #"{"command":"start","warnings":[\#(sixteen)]}"#) == nil)
    #expect(refusal(of: #"{"command":"start","warnings":[\#(sixteen),1]}"#)?.code == .badRequest)
  }

  @Test func `of a title has 256 bytes at most`() {
    let long = String(repeating: "é", count: 128)

    #expect(refusal(of: #"{"command":"start","title":"\#(long)"}"#) == nil)
    #expect(refusal(of: #"{"command":"start","title":"\#(long)x"}"#)?.code == .badRequest)
  }

  @Test func `of a message's text has 500 bytes at most, and the limit is named`() {
    let long = String(repeating: "é", count: 250)
    let refusal = refusal(of: #"{"command":"message","text":"\#(long)x"}"#)

    #expect(answer(to: #"{"command":"message","text":"\#(long)"}"#).contains(#""ok":true"#))
    #expect(refusal?.code == .badRequest)
    #expect(refusal?.message.contains("500") == true)
  }

  @Test func `of a request's name has 64 bytes at most`() {
    let long = String(repeating: "é", count: 32)

    #expect(refusal(of: #"{"command":"pause","requestId":"\#(long)"}"#) == nil)
    #expect(refusal(of: #"{"command":"pause","requestId":"\#(long)x"}"#)?.code == .badRequest)
  }

  @Test(arguments: [
    "", "*", #"a\u0000"#, #"\u007f"#, #"\u0085"#, #"a\nb"#, #"\u2028"#, #"\u2029"#, "\u{2028}",
    String(repeating: "x", count: 129),
  ])
  func `of a name has to be one`(_ name: String) {
    #expect(refusal(of: #"{"command":"get","timer":"\#(name)"}"#)?.code == .badRequest)
  }

  @Test(arguments: ["", #"a\u0000"#])
  func `of names has to hold names alone`(_ name: String) {
    #expect(
      refusal(of: #"{"command":"subscribe","timers":["tea","\#(name)"]}"#)?.code == .badRequest)
  }

  @Test func `of names goes not with one name beside it`() {
    #expect(
      refusal(of: #"{"command":"subscribe","timer":"a","timers":["b"]}"#)?.code == .badRequest)
  }
}
