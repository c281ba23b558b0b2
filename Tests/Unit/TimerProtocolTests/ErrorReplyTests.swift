import Testing
import TimerCore
import TimerProtocol

@Suite struct `An error code` {
  static let table: [(ErrorCode, status: Int, isRetryable: Bool)] = [
    (.timerHasNotStarted, 409, false), (.timerHasNotPaused, 409, false),
    (.timerAlreadyPaused, 409, false), (.timerAlreadyStarted, 409, false),
    (.invalidTimerType, 409, false), (.badRequest, 400, false), (.outOfRange, 400, false),
    (.unknownCommand, 400, false), (.unknownTimer, 404, false), (.revisionMismatch, 409, false),
    (.runMismatch, 409, false),
    (.unauthorized, 401, false), (.forbidden, 403, false), (.tooManyTimers, 429, false),
    (.tooManySubscriptions, 429, false), (.rateLimited, 429, true), (.storageFailed, 507, true),
    (.shuttingDown, 503, true), (.notFound, 404, false), (.methodNotAllowed, 405, false),
  ]

  @Test(arguments: table)
  func `has an HTTP status and may be worth a retry`(
    _ row: (code: ErrorCode, status: Int, isRetryable: Bool)
  ) {
    #expect(row.code.httpStatus == row.status)
    #expect(row.code.isRetryable == row.isRetryable)
  }

  @Test func `is one of the protocol page's`() {
    #expect(ErrorCode.allCases.map(\.rawValue).sorted() == Self.table.map(\.0.rawValue).sorted())
    #expect(ErrorCode.allCases.count == 20)
  }
}

@Suite struct `The text of a refusal` {
  static let refusals: [(TimerRefusal, ErrorCode)] = [
    (.timerHasNotStarted, .timerHasNotStarted), (.timerHasNotPaused, .timerHasNotPaused),
    (.timerAlreadyPaused, .timerAlreadyPaused), (.timerAlreadyStarted, .timerAlreadyStarted),
    (.invalidTimerType, .invalidTimerType), (.unknownTimer, .unknownTimer),
    (.revisionMismatch(current: 12), .revisionMismatch),
    (.outOfRange(field: "seconds", limit: -5), .outOfRange),
    (.pressOutOfRange(earliest: 1, latest: 3), .outOfRange),
    (.tooManyLaps, .outOfRange), (.contradiction("not so"), .badRequest),
  ]

  @Test(arguments: refusals)
  func `has its code and says something`(_ refusal: TimerRefusal, _ code: ErrorCode) {
    let reply = ErrorReply(refusal, timer: id("kitchen"))

    #expect(reply.code == code)
    #expect(!reply.message.isEmpty)
  }

  @Test(arguments: [
    TimerRefusal.timerHasNotStarted, .timerHasNotPaused, .timerAlreadyPaused, .timerAlreadyStarted,
    .invalidTimerType, .unknownTimer, .revisionMismatch(current: 12), .tooManyLaps,
  ])
  func `names the timer where it is the timer's`(_ refusal: TimerRefusal) {
    #expect(ErrorReply(refusal, timer: id("kitchen")).message.contains("\"kitchen\""))
  }

  @Test(
    arguments: [
      (.timerHasNotStarted, "start"), (.timerHasNotPaused, "paused"),
      (.timerAlreadyPaused, "resume"),
      (.timerAlreadyStarted, "force"), (.invalidTimerType, "addElapsedTime"),
      (.unknownTimer, "start"),
      (.revisionMismatch(current: 12), "12"), (.outOfRange(field: "seconds", limit: -5), "seconds"),
      (.pressOutOfRange(earliest: 1, latest: 3), "at"), (.tooManyLaps, "reset"),
    ] as [(TimerRefusal, String)])
  func `says what would be right`(_ refusal: TimerRefusal, _ hint: String) {
    #expect(ErrorReply(refusal, timer: id("kitchen")).message.contains(hint))
  }

  @Test func `carries the limit that would do`() {
    let refusal = TimerRefusal.outOfRange(field: "seconds", limit: -5.5)

    #expect(ErrorReply(refusal, timer: id("kitchen")).limit == -5.5)
  }

  @Test func `tells a press that came too late apart from a number that is too large`() {
    let late = ErrorReply(.pressOutOfRange(earliest: 1, latest: 3), timer: id("kitchen"))
    let large = ErrorReply(.outOfRange(field: "seconds", limit: -5), timer: id("kitchen"))

    #expect([late.field, large.field] == ["at", nil])
    #expect([late.limit, large.limit] == [nil, -5])
  }

  @Test func `carries how many laps are kept`() {
    #expect(ErrorReply(.tooManyLaps, timer: id("kitchen")).limit == 1_000)
  }

  @Test func `carries no limit where there is none`() {
    #expect(ErrorReply(.timerHasNotPaused, timer: id("kitchen")).limit == nil)
  }
}
