import Testing
import TimerCore
import TimerStorage

@Suite struct `An edit of a timer's file` {
  /// A bench with a countdown from 300 s that runs, and its record as it lies on the disk.
  private func stored() throws -> (bench: HubBench, record: TimerRecord) {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea","duration":300}"#)
    return (bench, try #require(bench.records.values.first))
  }

  @Test func `is taken up, stored and shown`() throws {
    var (bench, record) = try stored()
    let subscriber = bench.subscriber()
    let before = record.timer.revision
    record.timer.settings.title = "by hand"

    bench.edit(record)
    let early = bench.heard(by: subscriber)
    bench.store()
    let messages = bench.messages(to: subscriber)

    #expect(early == [])
    #expect(messages.map(\.cause) == ["external"])
    #expect(messages.first?.timers.first?.text("title") == "by hand")
    #expect(try #require(messages.first?.timers.first?.revision) > before)
  }

  @Test func `takes no time from a timer that runs`() throws {
    var (bench, record) = try stored()
    record.timer.settings.title = "by hand"
    bench.advance(10)

    bench.edit(record)
    bench.store()

    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.time == 290)
  }

  @Test func `that changes nothing is passed over`() throws {
    var (bench, record) = try stored()

    bench.edit(record)

    #expect(bench.pendingWrites.isEmpty)
  }

  @Test func `may be of the speaker's message, or of laps`() throws {
    var bench = HubBench.make()
    bench.ask(#"{"command":"start","timer":"tea"}"#)
    var record = try #require(bench.records.values.first)
    let subscriber = bench.subscriber()

    record.timer.settings.message = SpeakerText("by hand").map {
      SpeakerMessage($0, sentAt: bench.now)
    }
    bench.edit(record)
    bench.store()
    record.timer.laps = [1]
    bench.edit(record)
    bench.store()
    let shown = bench.messages(to: subscriber).compactMap(\.timers.first)

    #expect(shown.map { $0["laps"] as? [Double] } == [nil, [1]])
    #expect(shown.allSatisfy { ($0["message"] as? [String: Any])?["text"] as? String == "by hand" })
  }

  @Test func `may forget the timer`() throws {
    var (bench, record) = try stored()
    let subscriber = bench.subscriber()

    bench.removeFile(of: record.timer.id)
    bench.store()

    #expect(bench.heard(by: subscriber) == ["removed tea"])
    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).code == "unknownTimer")
  }

  @Test func `that damages it leaves the timer, and is reported by the health probe`() throws {
    var (bench, _) = try stored()

    bench.damage("tea.json")
    let health = Message(bench.http("GET", "/healthz").body)

    #expect(bench.ask(#"{"command":"get","timer":"tea"}"#).timer?.status == "running")
    #expect((health["faults"] as? [[String: Any]])?.first?["file"] as? String == "tea.json")
    #expect(bench.errorsLogged.contains { $0.contains("tea.json") })
  }

  @Test func `that damages it is forgotten with the next change`() throws {
    var (bench, _) = try stored()
    bench.damage("tea.json")

    bench.ask(#"{"command":"pause","timer":"tea"}"#)
    let health = Message(bench.http("GET", "/healthz").body)

    #expect((health["faults"] as? [Any])?.isEmpty == true)
  }
}
