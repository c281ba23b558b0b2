import Testing
import TimerCore
import TimerStorage
import WebSocketTransport

@testable import TimerServer

@Suite struct `A disk that refuses changes` {
  private let full = StorageTrouble(
    reason: "the disk refuses: No space left on device", description: "write /data/log: no space")

  @Test func `is reported by the health probe, with its reason`() {
    var bench = HubBench.make()
    let before = bench.http("GET", "/readyz").status

    bench.handle(.store(.writable(full)))
    let ready = bench.http("GET", "/readyz")
    let health = bench.http("GET", "/healthz")

    #expect(before == 200)
    #expect(ready.status == 503)
    #expect(Message(ready.body)["reason"] as? String == full.reason)
    #expect(health.status == 200)
    #expect(Message(health.body)["writable"] as? Bool == false)
    #expect(Message(health.body)["reason"] as? String == full.reason)
  }

  @Test func `is reported no more when it accepts changes again`() {
    var bench = HubBench.make()
    bench.handle(.store(.writable(full)))

    bench.handle(.store(.writable(nil)))

    #expect(bench.http("GET", "/readyz").status == 200)
    #expect(Message(bench.http("GET", "/healthz").body)["writable"] == nil)
  }

  @Test func `fills no log when it fails now and then`() {
    var bench = HubBench.make()
    let before = bench.logged.count

    for _ in 1...50 {
      bench.handle(.store(.writable(full)))
      bench.handle(.store(.writable(nil)))
    }

    #expect(bench.logged.count - before == 2)
  }

  @Test func `is in the log after all when it goes on`() {
    var bench = HubBench.make()
    for trouble in [full, nil, full] { bench.handle(.store(.writable(trouble))) }
    let before = bench.errorsLogged.count
    bench.wait(11)

    for _ in 1...3 {
      let asker = bench.connect()
      bench.send(#"{"command":"start","timer":"tea","duration":300}"#, from: asker)
      bench.failStore()
    }

    #expect(bench.errorsLogged.count - before == 1)
  }

  @Test func `is the last line of the log when it is back after a moment`() {
    var bench = HubBench.make()
    for trouble in [full, nil, full, nil, full] {
      bench.handle(.store(.writable(trouble)))
      bench.advance(3)
    }

    #expect(bench.logged.count { $0.contains("changes can't be stored") } == 3)
    #expect(bench.logged.last?.contains("changes can't be stored") == true)
  }

  @Test func `is the last line of the log when it was not logged at first, and no request comes`() {
    var bench = HubBench.make()
    for _ in 1...20 {
      for trouble in [full, nil] { bench.handle(.store(.writable(trouble))) }
    }
    #expect(bench.logged.last == "changes are stored again")

    bench.handle(.store(.writable(full)))
    bench.advance(3)

    #expect(bench.logged.last?.contains("changes can't be stored") == true)
  }

  @Test func `reports files that are behind in few lines, and their end`() {
    var bench = HubBench.make()
    let errors = (1...3_000).map {
      StorageTrouble(DiskError("rename", "/data/\($0).json", code: 13))
    }

    for round in 1...100 {
      bench.handle(.store(.behind(round.isMultiple(of: 2) ? [errors[0]] : errors)))
    }
    bench.handle(.store(.behind([])))

    #expect(bench.logged.count == 22)
    #expect(bench.logged.contains("the files of 2980 more timers are behind"))
    #expect(bench.logged.last == "every timer's file is up to date again")
  }
}

@Suite final class `Storage trouble that comes and goes` {
  private var log = TroubleLog<String>()

  private func told(_ trouble: String?, at second: Int) -> Bool {
    log.update(trouble)
    return log.popLine(at: Instant(Seconds(microseconds: Int64(second) * 1_000_000))) != nil
  }

  @Test func `is logged with its end, and less often while it lasts`() {
    var count = 0
    for second in 0..<100 {
      if told(second.isMultiple(of: 2) ? "full" : nil, at: second) { count += 1 }
    }

    #expect(count > 10 && count < 30)
    #expect(told("full", at: 200))
    #expect(told(nil, at: 200))
    #expect(told("full", at: 202))
  }

  @Test func `is logged as over when another one took its place unseen`() {
    #expect(told("full", at: 0))
    #expect(!told("gone", at: 0))
    #expect(told(nil, at: 0))
    #expect(!told("gone", at: 0))
    #expect(!told(nil, at: 0))
  }

  @Test func `is logged again when it becomes another one`() {
    #expect(told("full", at: 0))
    #expect(told("gone", at: 2))
    #expect(!told("gone", at: 20))
  }
}

@Suite struct `Another data folder in place of the one before` {
  /// A hub with two timers, the contents of a folder with another history, and a subscriber.
  private func restored() throws -> (
    bench: HubBench, contents: TimerFolder.Contents, subscriber: ConnectionID
  ) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300,"requestId":"once"}"#)
    var contents = TimerFolder.Contents()
    contents.timers = Array(bench.records.values)
    contents.timers[0].answered = []
    contents.history = "another history"
    contents.server = ServerRecord(revisionCeiling: 2_000_000)
    bench.ask(#"{"command":"pause","timer":"tea"}"#)
    bench.ask(#"{"command":"start","timer":"oven","duration":60}"#)
    let subscriber = bench.subscriber(to: "*")
    return (bench, contents, subscriber)
  }

  @Test func `brings its timers, and takes those away that it has not`() throws {
    var (bench, contents, subscriber) = try restored()

    bench.handle(.store(.restored(contents)))
    bench.store()

    let heard = bench.messages(to: subscriber)
    #expect(heard.contains { $0.cause == "external" && $0.timers.first?.text("timer") == "tea" })
    #expect(
      heard.contains { $0["event"] as? String == "removed" && $0["timer"] as? String == "oven" })
    #expect(bench.closeCodes[subscriber] == .serviceRestart)
    let state = bench.ask(#"{"command":"get","timer":"tea"}"#).timer
    #expect(state?.text("status") == "running")
    #expect(try #require(state?.revision) > 2_000_000)
    #expect(bench.hub.history == "another history")
  }

  @Test func `has not heard of what was asked for on its way`() throws {
    var (bench, contents, _) = try restored()
    let asker = bench.connect()
    bench.send(#"{"id":1,"command":"finish","timer":"tea"}"#, from: asker)

    bench.handle(.store(.restored(contents)))

    let reply = bench.messages(to: asker).first { $0["reply"] != nil }
    #expect(reply?.code == "storageFailed")
  }

  @Test func `says what became of a change, whatever was asked for before`() throws {
    var (bench, contents, _) = try restored()
    let names = (0..<300).map { "\"n\($0)\"" }.joined(separator: ",")
    let subscribe = #"{"id":1,"command":"subscribe","timers":[\#(names)]}"#
    for _ in 0..<10 { bench.send(subscribe, from: bench.connect()) }
    let asker = bench.connect()
    bench.send(subscribe, from: asker)
    bench.send(#"{"id":2,"command":"finish","timer":"tea"}"#, from: asker)

    bench.handle(.store(.restored(contents)))
    bench.store()

    let replies = bench.messages(to: asker).filter(\.isReply).map(\.description)
    #expect(replies == ["shuttingDown 1", "storageFailed 2"])
    #expect(bench.closeCodes[asker] == .serviceRestart)
  }

  @Test func `does not know the named changes of the one before`() throws {
    var (bench, contents, _) = try restored()
    bench.handle(.store(.restored(contents)))
    bench.store()

    bench.ask(#"{"command":"start","timer":"tea","duration":9,"force":true,"requestId":"once"}"#)

    #expect(bench.records.values.contains { $0.timer.run?.type == .countdown(9) })
  }
}
