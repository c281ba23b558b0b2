import Testing
import TimerCore
import TimerProtocol

@Suite struct `A request` {
  @Test func `to start takes every field`() throws {
    let json = #"""
      {"id":"a1","command":"start","timer":"kitchen","duration":300.5,"type":"timer",
       "atZero":"repeat","title":"Pasta","warnings":[60,10.25],"force":true,"ifRevision":12,
       "at":1764480000.000001,"requestId":"r-1"}
      """#

    let start = TimerStart(
      duration: 300.5, kind: .timer,
      settings: TimerUpdate(atZero: .repeat, title: "Pasta", warnings: [60, 10.25]), force: true)
    let change = TimerChange(
      .start(start), ifRevision: 12, at: Instant(microseconds: 1_764_480_000_000_001))
    #expect(try request(json) == .change(id("kitchen"), change, idempotencyKey: key("r-1")))
  }

  @Test func `to start needs none`() throws {
    let json = #"{"command":"start"}"#

    #expect(
      try read(json)
        == ClientMessage(
          tag: .none,
          request: .change(.standard, TimerChange(.start(TimerStart())), idempotencyKey: nil)))
  }

  @Test(arguments: [
    (#""type":"stopwatch""#, TimerStart(kind: .stopwatch)),
    (#""atZero":"overtime""#, TimerStart(settings: TimerUpdate(atZero: .overtime))),
    (#""atZero":"finish""#, TimerStart(settings: TimerUpdate(atZero: .finish))),
    (#""atZero":"reset""#, TimerStart(settings: TimerUpdate(atZero: .reset))),
    (#""title":"""#, TimerStart(settings: TimerUpdate(title: ""))),
    (#""warnings":[]"#, TimerStart(settings: TimerUpdate(warnings: []))),
    (#""force":false"#, TimerStart(force: false)),
    (#""duration":0.000001"#, TimerStart(duration: 0.000001)),
    (#""duration":31536000"#, TimerStart(duration: 31_536_000)),
    (#""duration":3e2"#, TimerStart(duration: 300)),
    (#""duration":1.0E+1"#, TimerStart(duration: 10)),
  ])
  func `to start takes each value of a field`(_ field: String, _ start: TimerStart) throws {
    let json = #"{"command":"start","timer":"tea",\#(field)}"#

    #expect(
      try request(json) == .change(id("tea"), TimerChange(.start(start)), idempotencyKey: nil))
  }

  @Test func `to update takes title, warnings and end policy`() throws {
    let json =
      #"{"command":"update","timer":"tea","title":"Rice","warnings":[5],"atZero":"finish"}"#

    let update = TimerUpdate(atZero: .finish, title: "Rice", warnings: [5])
    #expect(
      try request(json) == .change(id("tea"), TimerChange(.update(update)), idempotencyKey: nil))
  }

  @Test(arguments: [
    ("pause", TimerCommand.pause), ("resume", .resume), ("finish", .finish(resetTime: false)),
    ("reset", .reset), ("lap", .lap), ("remove", .remove),
  ])
  func `of a plain command takes its conditions`(_ name: String, _ command: TimerCommand) throws {
    let json = #"""
      {"command":"\#(name)","timer":"tea","ifRevision":0,"at":1764480000.25,"requestId":"x"}
      """#

    let change = TimerChange(command, ifRevision: 0, at: 1_764_480_000.25)
    #expect(try request(json) == .change(id("tea"), change, idempotencyKey: key("x")))
  }

  @Test(arguments: [true, false])
  func `to finish says whether the time is reset`(_ resets: Bool) throws {
    let json = #"{"command":"finish","timer":"tea","resetTime":\#(resets)}"#

    #expect(
      try request(json)
        == .change(id("tea"), TimerChange(.finish(resetTime: resets)), idempotencyKey: nil))
  }

  @Test func `to finish all names no timer`() throws {
    let json = #"{"command":"finishAll","at":1764480000.25,"requestId":"x"}"#

    #expect(try request(json) == .finishAll(at: 1_764_480_000.25, idempotencyKey: key("x")))
  }

  @Test func `to finish all may name all by a star, and no one`() throws {
    let all = #"{"command":"finishAll","timer":"*"}"#
    let one = #"{"command":"finishAll","timer":"tea"}"#

    #expect(try request(all) == .finishAll(at: nil, idempotencyKey: nil))
    let refusal = #expect(throws: MalformedMessage.self) { try request(one) }
    #expect(refusal?.error.code == .badRequest)
    #expect(refusal?.error.message.contains("\"finish\"") == true)
  }

  @Test(arguments: ["60", "-60.5", "0", "-31536000", "1e9", "-1e999"])
  func `to add remaining time takes any amount`(_ amount: String) throws {
    let json = #"{"command":"addRemainingTime","timer":"tea","seconds":\#(amount),"clamp":true}"#

    let seconds = Seconds(clamping: try #require(Double(amount)))
    let change = TimerChange(.addRemainingTime(seconds, clamp: true))
    #expect(try request(json) == .change(id("tea"), change, idempotencyKey: nil))
  }

  @Test func `to add elapsed time takes an amount`() throws {
    let json = #"{"command":"addElapsedTime","timer":"tea","seconds":-0.000001}"#

    let change = TimerChange(.addElapsedTime(-0.000001, clamp: false))
    #expect(try request(json) == .change(id("tea"), change, idempotencyKey: nil))
  }

  @Test(
    arguments: [
      ("\"Wrap\\nup\"", SpeakerText("Wrap\nup")), ("\" \"", SpeakerText(" ")),
      ("\"\"", nil), ("null", nil),
    ] as [(String, SpeakerText?)])
  func `to show a message takes its text, or none`(_ json: String, _ text: SpeakerText?) throws {
    let change = TimerChange(.message(text), ifRevision: 3, at: 1_764_480_000.25)

    #expect(
      try request(
        #"{"command":"message","timer":"tea","text":\#(json),"ifRevision":3,"at":1764480000.25}"#)
        == .change(id("tea"), change, idempotencyKey: nil))
  }

  @Test(
    arguments: [("flash", .flash), ("blackout", .blackout), ("none", nil)]
      as [(String, SpeakerSignal.Kind?)])
  func `to signal takes its kind`(_ name: String, _ kind: SpeakerSignal.Kind?) throws {
    #expect(
      try request(#"{"command":"signal","timer":"tea","signal":"\#(name)","requestId":"r"}"#)
        == .change(id("tea"), TimerChange(.signal(kind)), idempotencyKey: key("r")))
  }

  @Test func `for a state names its timer`() throws {
    #expect(try request(#"{"command":"get","timer":"a/b"}"#) == .get(id("a/b")))
    #expect(try request(#"{"command":"get"}"#) == .get(.standard))
  }

  @Test func `for every state names none`() throws {
    #expect(try request(#"{"command":"list"}"#) == .list)
  }

  @Test(
    arguments: [
      (#""timer":"tea""#, .timers([id("tea")]), 1), (#""timer":"*""#, .all, 1),
      (#""timers":"*","interval":0"#, .all, 0), (#""timers":["*"]"#, .all, 1),
      (#""timers":["a","b"],"interval":0.1"#, .timers([id("a"), id("b")]), 0.1),
      (#""timers":[],"interval":3600"#, .timers([]), 3600),
    ] as [(String, TimerSelection, Seconds)])
  func `to subscribe selects timers and an interval`(
    _ fields: String, _ selection: TimerSelection, _ interval: Seconds
  ) throws {
    let json = #"{"command":"subscribe",\#(fields)}"#

    #expect(try request(json) == .subscribe(selection, interval: interval))
  }

  @Test func `to subscribe is to the standard timer when none is named`() throws {
    #expect(
      try request(#"{"command":"subscribe"}"#) == .subscribe(.timers([.standard]), interval: 1))
  }

  @Test(
    arguments: [
      (#""timer":"tea""#, .timers([id("tea")])), (#""timer":"*""#, .all), (#""timers":"*""#, .all),
      (#""timers":["a","b"]"#, .timers([id("a"), id("b")])),
    ] as [(String, TimerSelection)])
  func `to unsubscribe selects timers`(_ fields: String, _ selection: TimerSelection) throws {
    let json = #"{"command":"unsubscribe",\#(fields)}"#

    #expect(try request(json) == .unsubscribe(selection))
  }

  @Test(arguments: ["1764480000.123456789", "-0", "1e3", "12345678901234567890"])
  func `for the clock has its time given back as it was spelled`(_ time: String) throws {
    guard case .sync(let clientTime) = try request(#"{"command":"sync","clientTime":\#(time)}"#)
    else {
      Issue.record("no sync")
      return
    }

    let reply = ServerMessage.accepted(
      .none, .synced(clientTime: clientTime, receivedAt: 1, sentAt: 2))

    #expect(
      reply.json
        == #"{"reply":null,"ok":true,"clientTime":\#(time),"receivedAt":1,"sentAt":2}"#)
  }

  @Test func `for the clock may leave out its own`() throws {
    guard case .sync(let clientTime) = try request(#"{"command":"sync"}"#) else {
      Issue.record("no sync")
      return
    }

    #expect(clientTime == .none)
  }

  @Test func `to authenticate has a token`() throws {
    #expect(
      try request(#"{"command":"authenticate","token":"s3cret"}"#)
        == .authenticate(token: "s3cret"))
  }

  @Test func `may have white space around everything`() throws {
    let json = " \t\r\n{ \"command\" :\n\"get\" , \"timer\"\t: \"tea\" } \n"

    #expect(try request(json) == .get(id("tea")))
  }
}

@Suite struct `The id of a request` {
  @Test(arguments: [
    "7", "-0.5", "12345678901234567890123", "1.50", "1e400", "\"a\"", "\"\"", "\"say \\\"x\\\"\"",
    "\"\\\\\"", "\"🍵é\"", "null",
  ])
  func `comes back as it was`(_ tag: String) {
    #expect(answer(to: #"{"id":\#(tag),"command":"list"}"#) == #"{"reply":\#(tag),"ok":true}"#)
  }

  @Test func `may be left out`() {
    #expect(answer(to: #"{"command":"list"}"#) == #"{"reply":null,"ok":true}"#)
  }

  @Test func `comes back with a control character escaped`() {
    let reply = answer(to: #"{"id":"a\u0000\n","command":"list"}"#)

    #expect(reply == #"{"reply":"a\u0000\u000a","ok":true}"#)
  }

  @Test(arguments: ["true", "{}", "[1]", "[]"])
  func `is a string or a number`(_ tag: String) {
    let json = #"{"id":\#(tag),"command":"list"}"#

    #expect(refusal(of: json)?.code == .badRequest)
    #expect(answer(to: json).hasPrefix(#"{"reply":null,"ok":false,"#))
  }

  @Test func `comes back with a refusal too`() {
    let reply = answer(to: #"{"id":"x\"y","command":"start","durration":5}"#)

    #expect(reply.hasPrefix(#"{"reply":"x\"y","ok":false,"error":{"code":"badRequest","#))
  }
}

@Suite struct `A string of a request` {
  @Test(arguments: [
    (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\u00e9\u00E9"#, "éé"),
    (#"\ud83c\udf75"#, "🍵"), (#"\uD83C\uDF75"#, "🍵"), ("🍵", "🍵"), ("\u{7F}", "\u{7F}"),
    ("\u{2028}", "\u{2028}"), (#"\u2028"#, "\u{2028}"), (#"\u0000"#, "\0"),
    (#"\uffff"#, "\u{FFFF}"),
    (#"\\u0041"#, #"\u0041"#),
  ])
  func `may be escaped in any way`(_ spelled: String, _ meant: String) throws {
    let json = #"{"command":"update","title":"\#(spelled)"}"#

    let update = TimerCommand.update(TimerUpdate(title: meant))
    guard case .change(_, let change, _) = try request(json), change.command == update,
      case .update(let read) = change.command
    else {
      Issue.record("another title")
      return
    }
    #expect(read.title?.utf8.elementsEqual(meant.utf8) == true)
  }

  @Test func `keeps both spellings of é apart`() throws {
    let composed = try request("{\"command\":\"get\",\"timer\":\"caf\u{E9}\"}")
    let decomposed = try request("{\"command\":\"get\",\"timer\":\"cafe\u{301}\"}")

    #expect(composed == .get(id("caf\u{E9}")))
    #expect(decomposed == .get(id("cafe\u{301}")))
    #expect(composed != decomposed)
  }

  @Test func `keeps one that was escaped apart from what looks alike`() throws {
    #expect(
      try request(#"{"command":"get","timer":"e\u0301"}"#) == .get(id("e\u{301}")))
  }
}

@Suite struct `A request by HTTP` {
  @Test func `is the same as the message`() throws {
    let message = try ClientMessage(
      command: "start", timer: "tea", fields: [.number("ifRevision", 3), .text("requestId", "x")],
      body: Array(#"{"duration":5}"#.utf8))

    let change = TimerChange(.start(TimerStart(duration: 5)), ifRevision: 3)
    #expect(message.request == .change(id("tea"), change, idempotencyKey: key("x")))
  }

  @Test func `needs no body`() throws {
    let message = try ClientMessage(command: "pause", timer: "tea", fields: [], body: [])

    #expect(message.request == .change(id("tea"), TimerChange(.pause), idempotencyKey: nil))
  }

  @Test(arguments: [
    #"{"timer":"rice"}"#, #"{"command":"remove"}"#, #"{"ifRevision":3}"#, #"{"x":1}"#, "[]", "5",
    "not JSON",
  ])
  func `has no body that says otherwise`(_ body: String) {
    #expect {
      try ClientMessage(
        command: "pause", timer: "tea", fields: [.number("ifRevision", 3)], body: Array(body.utf8))
    } throws: { error in
      (error as? MalformedMessage)?.error.code == .badRequest
    }
  }
}
