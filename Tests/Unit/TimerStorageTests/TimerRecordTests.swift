import Foundation
import Testing
import TimerCore
import TimerStorage

@Suite struct `A timer's file` {
  private static let start = TimerRecord.start

  static let records: [TimerRecord] = {
    let countdown = RestoreTimerData(.countdown(300.000001), startingAt: start)
    let stopwatch = RestoreTimerData(.stopwatch, startingAt: start)
    var paused = countdown
    paused.pausePeriods = [
      PausePeriod(pause: (start + 1).date, start: (start + 2.000001).date),
      PausePeriod(pause: (start + 3).date, start: nil),
    ]
    var finished = paused
    finished.stopDate = (start + 10).date
    var finishedStopwatch = stopwatch
    finishedStopwatch.stopDate = (start + 10).date
    var ended = TimerRecord.make(run: countdown)
    ended.timer.endedAt = start + 300
    ended.timer.settings.atZero = .repeat
    var shown = TimerRecord.make(type: .stopwatch, run: stopwatch)
    shown.timer.laps = [0, 1.000001, 1.000001, 9]
    shown.timer.settings.message = SpeakerText("Wrap\n\"up\" 🍝").map {
      SpeakerMessage($0, sentAt: start + 5.000001)
    }
    shown.timer.settings.signal = SpeakerSignal(.blackout, sentAt: start + 6)
    return [
      .make(run: nil), .make(run: countdown), .make(run: paused), .make(run: finished),
      .make(type: .stopwatch, run: nil), .make(type: .stopwatch, run: stopwatch),
      .make(type: .stopwatch, run: finishedStopwatch), ended, shown,
      .make("caf\u{E9}/🍵\"\\", run: countdown), .make("cafe\u{301}", run: countdown),
      .make(answered: [IdempotencyRecord(requestId: "r\"1", revision: 12, at: start)]),
      .make(answered: [
        IdempotencyRecord(
          requestId: "r2", revision: 12, at: start, fingerprint: 9_007_199_254_740_991)
      ]),
    ]
  }()

  @Test(arguments: records)
  func `is read as it was written`(_ record: TimerRecord) throws {
    let contents = record.contents()

    #expect(try TimerRecord(contents: contents, id: record.timer.id) == record)
  }

  @Test func `is stable in every policy`() throws {
    for atZero in AtZero.allCases {
      var record = TimerRecord.make()
      record.timer.settings.atZero = atZero

      #expect(try TimerRecord(contents: record.contents(), id: id("tea")) == record)
    }
  }

  @Test func `keeps each microsecond`() throws {
    let start = Instant(microseconds: 1_764_480_000_000_001)
    let record = TimerRecord.make(
      run: RestoreTimerData(.countdown(31_536_000), startingAt: start))

    let read = try TimerRecord(contents: record.contents(), id: id("tea"))

    #expect(read.timer.run.map { Instant($0.startDate) } == start)
  }

  /// A file as version 1 writes it. Files like this one lie on people's disks: it must be read for ever.
  static let golden = """
    {
      "version": 1,
      "timer": "a/b",
      "revision": 12,
      "title": "Grüner Tee",
      "type": "timer",
      "duration": 300,
      "atZero": "overtime",
      "warnings": [
        60,
        10.5
      ],
      "run": {
        "duration": 360,
        "startDate": 1764480000.25,
        "pausePeriods": [
          {"pause": 1764480001.25, "start": 1764480002.000001},
          {"pause": 1764480010.25}
        ],
        "stopDate": 1764480011
      },
      "endedAt": 1764480009.5,
      "changedAt": 1764480010.25,
      "clock": {
        "serverTime": 1764480010.25,
        "bootTime": 5010,
        "bootID": "b0"
      },
      "answered": [
        {
          "requestId": "r-1",
          "revision": 12,
          "at": 1764480010.25
        }
      ]
    }
    """

  private var goldenRecord: TimerRecord {
    let run = RestoreTimerData(
      startDate: (1_764_480_000.25 as Instant).date,
      pausePeriods: [
        PausePeriod(
          pause: (1_764_480_001.25 as Instant).date,
          start: (1_764_480_002.000001 as Instant).date),
        PausePeriod(pause: (1_764_480_010.25 as Instant).date, start: nil),
      ], type: .countdown(360), stopDate: (1_764_480_011 as Instant).date)
    return TimerRecord(
      timer: SharedTimer(
        id: id("a/b"), revision: 12,
        settings: TimerSettings(
          type: .countdown(300), atZero: .overtime, title: "Grüner Tee", warnings: [60, 10.5]),
        run: run, endedAt: 1_764_480_009.5, changedAt: 1_764_480_010.25),
      clock: ClockReading(server: 1_764_480_010.25, boot: 5_010, bootID: "b0"),
      answered: [IdempotencyRecord(requestId: "r-1", revision: 12, at: 1_764_480_010.25)])
  }

  @Test func `of version 1 is understood`() throws {
    #expect(try TimerRecord(contents: Data(Self.golden.utf8), id: id("a/b")) == goldenRecord)
  }

  @Test func `is written as version 1`() {
    #expect(String(decoding: goldenRecord.contents(), as: UTF8.self) == Self.golden)
  }

  @Test func `has laps in the run, and the speaker's message beside it`() {
    var record = TimerRecord.make(
      type: .stopwatch, run: RestoreTimerData(.stopwatch, startingAt: Self.start))
    record.timer.laps = [1.5, 2.000001]
    record.timer.settings.message = SpeakerText("Wrap up").map {
      SpeakerMessage($0, sentAt: Self.start)
    }
    record.timer.settings.signal = SpeakerSignal(.flash, sentAt: Self.start + 1)

    let contents = String(decoding: record.contents(), as: UTF8.self)

    #expect(
      contents.contains(
        """
          "message": {
            "text": "Wrap up",
            "sentAt": 1764480000.25
          },
          "signal": {
            "kind": "flash",
            "sentAt": 1764480001.25
          },
          "run": {
            "startDate": 1764480000.25,
            "pausePeriods": [],
            "laps": [
              1.5,
              2.000001
            ]
          },
        """))
  }

  @Test func `written by hand may show a line as of the last change`() throws {
    let contents = #"""
      {"version":1,"timer":"tea","type":"timer","duration":90,"changedAt":1764480000.25,
       "message":{"text":"Wrap up"},"signal":{"kind":"blackout"}}
      """#

    let settings = try TimerRecord(contents: Data(contents.utf8), id: id("tea")).timer.settings

    #expect(settings.message?.text.text == "Wrap up")
    #expect(settings.message?.sentAt == Self.start)
    #expect(settings.signal == SpeakerSignal(.blackout, sentAt: Self.start))
  }

  @Test func `written by hand may have an empty line, which is none`() throws {
    let contents =
      #"{"version":1,"timer":"tea","type":"stopwatch","message":{"text":""}}"#

    let record = try TimerRecord(contents: Data(contents.utf8), id: id("tea"))

    #expect(record.timer.settings.message == nil)
  }

  @Test func `written by hand needs no more than a name and a type`() throws {
    let contents = #"{"version":1,"timer":"tea","type":"timer","duration":90}"#

    let record = try TimerRecord(contents: Data(contents.utf8), id: id("tea"))

    #expect(record.timer.settings == TimerSettings(type: .countdown(90)))
    #expect(record.timer.run == nil)
    #expect(record.answered == [])
  }

  @Test func `keeps its last ends, and which of them were not delivered`() throws {
    var record = TimerRecord.make()
    record.ends = [
      TimerEnd(at: Self.start + 200, revision: 3, isDelivered: true),
      TimerEnd(at: Self.start + 300, revision: 5, isDelivered: false),
    ]

    #expect(try TimerRecord(contents: record.contents(), id: id("tea")) == record)
  }

  @Test func `of an older server yields an end that was not delivered`() throws {
    let contents =
      #"{"version":1,"timer":"tea","type":"timer","duration":90,"revision":7,"#
      + #""untoldEnds":[1764480300.5]}"#

    let record = try TimerRecord(contents: Data(contents.utf8), id: id("tea"))

    #expect(
      record.ends == [TimerEnd(at: 1_764_480_300.5, revision: 7, isDelivered: false)])
  }

  @Test func `tells older servers of an end that was not delivered`() throws {
    var record = TimerRecord.make()
    record.ends = [TimerEnd(at: 1_764_480_300.5, revision: 5, isDelivered: false)]

    struct Before: Decodable { let untoldEnds: [Double] }
    let read = try JSONDecoder().decode(Before.self, from: record.contents())
    #expect(read.untoldEnds == [1_764_480_300.5])
  }

  @Test func `keeps which run it is in, and when that last changed`() throws {
    var record = TimerRecord.make()
    record.timer.runRevision = 12
    record.timer.runChangedAt = Self.start + 1
    record.timer.changedAt = Self.start + 9

    #expect(try TimerRecord(contents: record.contents(), id: id("tea")) == record)
  }

  @Test func `is under 10 kB with 64 pauses and 24 answered requests`() {
    var run = RestoreTimerData(.countdown(31_536_000), startingAt: Self.start)
    run.pausePeriods = (0..<64).map { index in
      let pause = Self.start + Seconds(microseconds: Int64(index) * 3_123_457)
      return PausePeriod(pause: pause.date, start: (pause + 1.000001).date)
    }
    let answered = (0..<24).map {
      IdempotencyRecord(
        requestId: "6f1c2a9e-93b5-4c1d-8f5e-5a1b0c7d9e\(10 + $0)", revision: 1_000_000 + $0,
        at: Self.start + 0.000001, fingerprint: 9_007_199_254_740_991)
    }

    let contents = TimerRecord.make(run: run, answered: answered).contents()

    #expect(contents.count < 10_000)
  }
}

@Suite struct `A file that holds no timer` {
  private func fault(_ contents: String, _ name: String = "tea") -> RecordFault? {
    do throws(RecordFault) {
      _ = try TimerRecord(contents: Data(contents.utf8), id: id(name))
      return nil
    } catch {
      return error
    }
  }

  private static let good = String(decoding: TimerRecord.make().contents(), as: UTF8.self)

  /// The good file with a part of it replaced.
  private func changed(_ part: String, _ replacement: String) throws -> String {
    try #require(Self.good.contains(part))
    return Self.good.replacing(part, with: replacement)
  }

  @Test func `may be empty`() {
    guard case .malformed = fault("") else {
      Issue.record("not malformed")
      return
    }
  }

  private static func stopwatch(_ laps: String, duration: String = "") -> String {
    #"""
    {"version":1,"timer":"tea","type":"\#(duration.isEmpty ? "stopwatch" : "timer")",\#(duration)
     "run":{\#(duration)"startDate":1764480000.25,"pausePeriods":[],"laps":[\#(laps)]},
     "clock":{"serverTime":1764480100.25,"bootTime":5100,"bootID":"b0"}}
    """#
  }

  @Test(arguments: [
    stopwatch("2,1"), stopwatch("-1"), stopwatch("1,2,1.999999"), stopwatch("1e300"),
    stopwatch(Array(repeating: "1", count: 1_001).joined(separator: ",")),
    stopwatch("1", duration: "\"duration\":300,"),
  ])
  func `may have laps that are none`(_ contents: String) {
    guard case .contradiction(let why) = fault(contents) else {
      Issue.record("no contradiction: \(contents.prefix(300))")
      return
    }
    #expect(why.contains("lap"))
  }

  @Test(arguments: [
    stopwatch(""), stopwatch("1,1"), stopwatch("", duration: "\"duration\":300,"),
    stopwatch(Array(repeating: "1", count: 1_000).joined(separator: ",")),
  ])
  func `is none of those with laps that are`(_ contents: String) {
    #expect(fault(contents) == nil)
  }

  @Test(arguments: [String(repeating: "x", count: 501), "a\\tb", "\\u0000"])
  func `may have a message that is none`(_ text: String) throws {
    let contents = try changed(
      #""atZero": "overtime""#, #""atZero": "overtime", "message": {"text": "\#(text)"}"#)

    guard case .contradiction(let why) = fault(contents) else {
      Issue.record("no contradiction")
      return
    }
    #expect(why.contains("500"))
  }

  @Test(arguments: [1, 10, 100, 200])
  func `may be cut off`(_ length: Int) {
    guard case .malformed(let why) = fault(String(Self.good.prefix(length))) else {
      Issue.record("not malformed")
      return
    }
    #expect(!why.isEmpty)
  }

  @Test(arguments: ["[]", "null", "5", "{}", "\0\0\0\0", "tea"])
  func `may be something else`(_ contents: String) {
    guard case .malformed = fault(contents) else {
      Issue.record("not malformed")
      return
    }
  }

  @Test func `may be of a newer version`() throws {
    let contents = try changed(#""version": 1"#, #""version": 2"#)

    #expect(fault(contents) == .newerVersion(2))
  }

  @Test func `may be of a newer version with another shape`() {
    #expect(fault(#"{"version":7,"name":"tea"}"#) == .newerVersion(7))
  }

  @Test func `may be another timer's`() {
    guard case .contradiction(let why) = fault(Self.good, "rice") else {
      Issue.record("no contradiction")
      return
    }
    #expect(why.contains("rice") && why.contains("tea"))
  }

  @Test func `may be one of the other spelling of é`() {
    let contents = String(decoding: TimerRecord.make("caf\u{E9}").contents(), as: UTF8.self)

    guard case .contradiction = fault(contents, "cafe\u{301}") else {
      Issue.record("no contradiction")
      return
    }
  }

  @Test(arguments: [
    #"[{"pause":1,"start":null},{"pause":2,"start":null}]"#,
    #"[{"pause":1},{"pause":2,"start":3}]"#,
  ])
  func `may have an open pause that is not the last`(_ pauses: String) throws {
    let contents = try Self.good.replacing(
      Regex(#""pausePeriods": \[\s*\]"#), with: #""pausePeriods": \#(pauses)"#)
    try #require(contents != Self.good)

    guard case .contradiction = fault(contents) else {
      Issue.record("no contradiction")
      return
    }
  }

  @Test(arguments: ["-5", "0", "31536001"])
  func `may have a duration that is none`(_ duration: String) throws {
    guard
      case .contradiction = fault(try changed(#""duration": 300"#, #""duration": \#(duration)"#))
    else {
      Issue.record("no contradiction")
      return
    }
  }

  @Test(arguments: [
    (#""type": "timer""#, #""type": "clock""#), (#""type": "timer""#, #""type": "stopwatch""#),
    (#""revision": 12"#, #""revision": -1"#),
    (#""revision": 12"#, #""revision": 9007199254740993"#),
    (#""revision": 12"#, #""revision": 9223372036854775807"#),
    (#""warnings": ["#, #""warnings": [ -1,"#),
  ])
  func `may have parts that don't go together`(_ part: String, _ replacement: String) throws {
    guard case .contradiction = fault(try changed(part, replacement)) else {
      Issue.record("no contradiction")
      return
    }
  }

  @Test(arguments: [
    (#""atZero": "overtime""#, #""atZero": "explode""#),
    (#""revision": 12"#, #""revision": "12""#),
    (#""title": "Pasta""#, #""title": 5"#), (#""timer": "tea","#, ""),
    (#""warnings": ["#, #""warnings": ["x","#), (#""version": 1"#, #""version": "1""#),
    (#""startDate""#, #""begin""#),
    (#""atZero": "overtime""#, #""signal": {"kind": "explode"}"#),
    (#""atZero": "overtime""#, #""signal": "flash""#),
    (#""atZero": "overtime""#, #""message": {"sentAt": 5}"#),
    (#""pausePeriods""#, #""laps": [null], "pausePeriods""#),
  ])
  func `may have a part that is missing or of a wrong type`(
    _ part: String, _ replacement: String
  ) throws {
    guard case .malformed(let why) = fault(try changed(part, replacement)) else {
      Issue.record("not malformed")
      return
    }
    #expect(!why.isEmpty)
  }

  @Test(arguments: [
    RecordFault.malformed("x"), .newerVersion(2), .contradiction("x"),
    .unreadable(DiskError("open", "/x", code: ENOENT)),
  ])
  func `has its reason in words`(_ fault: RecordFault) {
    #expect(!"\(fault)".isEmpty)
    #expect(!"\(fault)".contains("\n"))
  }

  @Test func `says what the disk said`() {
    #expect(
      "\(DiskError("open", "/x", code: ENOENT))" == "open /x: No such file or directory")
  }
}
