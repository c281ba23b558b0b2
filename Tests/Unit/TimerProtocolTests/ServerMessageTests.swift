import Foundation
import Testing
import TimerCore
import TimerProtocol

@Suite struct `A message of the server` {
  static let state =
    #"{"timer":"kitchen","revision":12,"status":"running","type":"timer","duration":300,"#
    + #""elapsedTime":129,"time":171,"startDate":1764480000.25,"stopDate":null,"#
    + #""pausePeriods":[{"pause":1764480060.25,"start":1764480071}],"#
    + #""lastElapsedTimeCalculatedAt":1764480140,"addedTime":0,"atZero":"overtime","#
    + #""title":"Pasta","warnings":[60,10],"run":12}"#

  private var tag: ReplyTag {
    get throws { try read(#"{"id":"a1","command":"list"}"#).tag }
  }

  @Test func `begins a connection`() {
    let hello = Hello(
      server: "timersync/1.0.0", epoch: "e\"1", role: "control", now: 1_764_480_000.000001,
      history: "h", revision: 12, status: ServerStatus(wallOffset: -3_600.5))

    #expect(
      ServerMessage.hello(hello).json
        == #"{"event":"hello","server":"timersync/1.0.0","protocol":1,"epoch":"e\"1","#
        + #""role":"control","now":1764480000.000001,"history":"h","revision":12,"#
        + #""wallOffset":-3600.5,"writable":true}"#)
  }

  @Test func `reports the status of the server`() {
    let status = ServerStatus(wallOffset: 32_400, reason: "the disk is \"full\"")

    #expect(
      ServerMessage.server(status).json
        == #"{"event":"server","wallOffset":32400,"writable":false,"#
        + #""reason":"the disk is \"full\""}"#)
    #expect(
      ServerMessage.server(ServerStatus()).json
        == #"{"event":"server","wallOffset":0,"writable":true}"#)
  }

  @Test func `confirms a request`() throws {
    #expect(ServerMessage.accepted(try tag, .done).json == #"{"reply":"a1","ok":true}"#)
  }

  @Test func `confirms a request with a state`() throws {
    // 129 s: 139.75 since the start, 10.75 of them paused.
    let reading = TimerReading.make()

    #expect(
      ServerMessage.accepted(try tag, .timer(reading)).json
        == #"{"reply":"a1","ok":true,"timer":\#(Self.state)}"#)
  }

  @Test func `confirms a request with states`() throws {
    let reading = TimerReading.make()

    #expect(
      ServerMessage.accepted(try tag, .timers([reading, reading])).json
        == #"{"reply":"a1","ok":true,"timers":[\#(Self.state),\#(Self.state)]}"#)
  }

  @Test func `confirms a request with no states`() throws {
    #expect(
      ServerMessage.accepted(try tag, .timers([])).json
        == #"{"reply":"a1","ok":true,"timers":[]}"#)
  }

  @Test func `refuses a request`() throws {
    let error = ErrorReply(.badRequest, "it \"is\" wrong")

    #expect(
      ServerMessage.refused(try tag, error, timer: nil).json
        == #"{"reply":"a1","ok":false,"error":{"code":"badRequest","message":"it \"is\" wrong","#
        + #""retryable":false}}"#)
  }

  @Test func `refuses a request with the field, and whether it may be sent again`() throws {
    let error = ErrorReply(.storageFailed, "no", field: "at", isRetryable: false)

    #expect(
      ServerMessage.refused(try tag, error, timer: nil).json
        == #"{"reply":"a1","ok":false,"error":{"code":"storageFailed","message":"no","#
        + #""retryable":false,"field":"at"}}"#)
  }

  @Test func `refuses a request with a limit and the state`() throws {
    let error = ErrorReply(.outOfRange, "no", limit: -171.5)

    #expect(
      ServerMessage.refused(try tag, error, timer: .make()).json
        == #"{"reply":"a1","ok":false,"error":{"code":"outOfRange","message":"no","#
        + #""retryable":false,"limit":-171.5},"timer":\#(Self.state)}"#)
  }

  @Test(
    arguments: [
      (.subscribed, "subscribed"), (.tick, "tick"), (.started, "started"), (.paused, "paused"),
      (.resumed, "resumed"), (.finished, "finished"), (.reset, "reset"), (.adjusted, "adjusted"),
      (.updated, "updated"), (.lapped, "lapped"), (.restored, "restored"), (.external, "external"),
    ] as [(SnapshotCause, String)])
  func `shows states with the cause`(_ cause: SnapshotCause, _ name: String) {
    // A tick leaves out what changes with the revision only.
    let state =
      cause == .tick ? Self.state.replacingOccurrences(of: ",\"run\":12", with: "") : Self.state
    #expect(
      ServerMessage.snapshot(cause, [.make()]).json
        == #"{"event":"snapshot","cause":"\#(name)","timers":[\#(state)]}"#)
  }

  @Test func `shows that there is nothing`() {
    #expect(
      ServerMessage.snapshot(.subscribed, []).json
        == #"{"event":"snapshot","cause":"subscribed","timers":[]}"#)
  }

  @Test func `reports when zero was crossed`() {
    let cause = SnapshotCause.ended(at: 1_764_480_311.000001, late: false)

    #expect(
      ServerMessage.snapshot(cause, [.make()]).json
        == #"{"event":"snapshot","cause":"ended","timers":[\#(Self.state)],"#
        + #""endedAt":1764480311.000001}"#)
  }

  @Test func `marks a late end`() {
    let cause = SnapshotCause.ended(at: 1_764_480_311, late: true)

    #expect(
      ServerMessage.snapshot(cause, [.make()]).json
        == #"{"event":"snapshot","cause":"ended","timers":[\#(Self.state)],"#
        + #""endedAt":1764480311,"late":true}"#)
  }

  @Test func `reports that a timer is removed`() {
    #expect(
      ServerMessage.removed(id("a\"b")).json == #"{"event":"removed","timer":"a\"b"}"#)
  }

  @Test func `is known by its bytes, the same each time`() {
    let message = ServerMessage.snapshot(.tick, [.make()])

    #expect(message.text == message.text)
  }
}

@Suite struct `A state` {
  private func json(_ timer: SharedTimer, at now: Instant = 1_764_480_005) -> String {
    let text = ServerMessage.snapshot(.tick, [TimerReading(timer, at: now)]).json
    return String(
      text.dropFirst(#"{"event":"snapshot","cause":"tick","timers":["#.count).dropLast(2))
  }

  private func timer(
    _ type: RestoreType, run: RestoreTimerData?, atZero: AtZero = .overtime
  ) -> SharedTimer {
    SharedTimer(
      id: id("tea"), revision: 3, settings: TimerSettings(type: type, atZero: atZero), run: run,
      changedAt: 1_764_480_000)
  }

  @Test func `of a stopwatch has no duration`() {
    let run = RestoreTimerData(.stopwatch, startingAt: 1_764_480_000)

    #expect(
      json(timer(.stopwatch, run: run))
        == #"{"timer":"tea","revision":3,"status":"running","type":"stopwatch","elapsedTime":5,"#
        + #""time":5,"startDate":1764480000,"stopDate":null,"pausePeriods":[],"#
        + #""lastElapsedTimeCalculatedAt":1764480005,"addedTime":0,"atZero":"overtime","#
        + #""title":"","warnings":[]}"#)
  }

  @Test func `of an idle countdown has no dates`() {
    #expect(
      json(timer(.countdown(300), run: nil, atZero: .reset))
        == #"{"timer":"tea","revision":3,"status":"idle","type":"timer","duration":300,"#
        + #""elapsedTime":0,"time":300,"startDate":null,"stopDate":null,"pausePeriods":[],"#
        + #""lastElapsedTimeCalculatedAt":1764480005,"addedTime":0,"atZero":"reset","#
        + #""title":"","warnings":[]}"#)
  }

  @Test func `of a paused countdown has an open pause`() {
    let run = RestoreTimerData(
      startDate: (1_764_480_000 as Instant).date,
      pausePeriods: [PausePeriod(pause: (1_764_480_001.5 as Instant).date, start: nil)],
      type: .countdown(300))

    let text = json(timer(.countdown(300), run: run))

    #expect(text.contains(#""status":"paused""#))
    #expect(text.contains(#""elapsedTime":1.5,"time":298.5"#))
    #expect(text.contains(#""pausePeriods":[{"pause":1764480001.5,"start":null}]"#))
  }

  @Test func `of a finished countdown has a stop date`() {
    let run = RestoreTimerData(
      startDate: (1_764_480_000 as Instant).date, pausePeriods: [], type: .countdown(300),
      stopDate: (1_764_480_002 as Instant).date)

    let text = json(timer(.countdown(300), run: run))

    #expect(text.contains(#""status":"finished""#))
    #expect(text.contains(#""stopDate":1764480002"#))
  }

  @Test func `in overtime has a time below zero, and tells what was added`() {
    let run = RestoreTimerData(.countdown(2.5), startingAt: 1_764_480_000)

    let text = json(timer(.countdown(2), run: run))

    #expect(text.contains(#""duration":2.5,"elapsedTime":5,"time":-2.5"#))
    #expect(text.contains(#""addedTime":0.5"#))
  }
}

@Suite struct `A state with more than a timer` {
  private let reading: TimerReading = {
    let timer = SharedTimer(
      id: id("tea"), revision: 3,
      settings: TimerSettings(
        type: .stopwatch,
        message: SpeakerText("Wrap\nup").map { SpeakerMessage($0, sentAt: 1_764_480_001.25) },
        signal: SpeakerSignal(.flash, sentAt: 1_764_480_002)),
      run: RestoreTimerData(.stopwatch, startingAt: 1_764_480_000), laps: [1.5, 3.000001],
      changedAt: 1_764_480_003)
    return TimerReading(timer, at: 1_764_480_005)
  }()

  private static let speaker =
    #","warnings":[],"message":{"text":"Wrap\u000aup","sentAt":1764480001.25},"#
    + #""signal":{"kind":"flash","sentAt":1764480002}"#

  @Test func `has the speaker's message and signal, and the laps`() {
    #expect(
      ServerMessage.snapshot(.lapped, [reading]).json
        .hasSuffix(Self.speaker + #","run":3,"laps":[1.5,3.000001]}]}"#))
    #expect(
      ServerMessage.accepted(.none, .timer(reading)).json
        .hasSuffix(Self.speaker + #","run":3,"laps":[1.5,3.000001]}}"#))
  }

  @Test func `leaves laps out of a tick`() {
    #expect(ServerMessage.snapshot(.tick, [reading, reading]).json.hasSuffix(Self.speaker + "}]}"))
    #expect(!ServerMessage.snapshot(.tick, [reading]).json.contains("\"laps\""))
  }
}

@Suite struct `A number` {
  private func now(_ microseconds: Int64) -> String {
    let hello = Hello(
      server: "s", epoch: "e", role: "view", now: Instant(microseconds: microseconds),
      history: "", revision: 0, status: ServerStatus())
    let json = ServerMessage.hello(hello).json
    return String(json.split(separator: "\"now\":")[1].prefix { $0 != "," })
  }

  @Test(
    arguments: [
      (0, "0"), (1, "0.000001"), (-1, "-0.000001"), (10, "0.00001"), (1_000_000, "1"),
      (-500_000, "-0.5"), (90_500_000, "90.5"), (1_764_480_000_000_001, "1764480000.000001"),
      (1_764_480_000_250_000, "1764480000.25"), (31_536_000_000_000, "31536000"),
      (-1_000_001, "-1.000001"), (100_000, "0.1"), (9_007_199_254_740_993, "9007199254.740993"),
    ] as [(Int64, String)])
  func `is written in seconds, to the microsecond, without an exponent`(
    _ microseconds: Int64, _ text: String
  ) {
    #expect(now(microseconds) == text)
  }
}

@Suite struct `A text` {
  private func written(_ text: String) -> String {
    let hello = Hello(
      server: text, epoch: "", role: "", now: 0, history: "", revision: 0,
      status: ServerStatus())
    let json = ServerMessage.hello(hello).json
    return String(
      json.dropFirst(#"{"event":"hello","server":"#.count).split(separator: #","protocol""#)[0])
  }

  @Test(arguments: [
    ("tea", #""tea""#), ("\"\\/", #""\"\\/""#), ("\n\t", #""\u000a\u0009""#),
    ("\0\u{1F}", #""\u0000\u001f""#), ("🍵", "\"🍵\""), ("\u{2028}", "\"\u{2028}\""),
  ])
  func `is written with what has to be escaped, and no more`(_ text: String, _ json: String) {
    #expect(written(text) == json)
  }

  @Test(arguments: ["\u{E9}", "e\u{301}"])
  func `keeps its bytes in either spelling of é`(_ text: String) {
    #expect(written(text).utf8.elementsEqual("\"\(text)\"".utf8))
  }
}
