import Foundation
import Testing
import TimerCore
import WebSocketTransport

@testable import TimerServer

@Suite struct `Timer crossings as work of the server` {
  private func repeating(_ count: Int, every duration: String = "0.1") -> HubBench {
    var bench = HubBench.make(timersMax: count + 1)
    for index in 0..<count {
      bench.ask(
        #"{"command":"start","timer":"t\#(index)","duration":\#(duration),"atZero":"repeat"}"#)
    }
    return bench
  }

  @Test func `has one crossing of a timer on its way to the disk`() {
    var bench = repeating(1)

    for _ in 0..<50 { bench.jump(0.1) }

    #expect(bench.pendingWrites.count == 1)
  }

  @Test func `sends each crossing that fell due while the disk was slow`() {
    var bench = repeating(1)
    let client = bench.subscriber(to: "t0")

    bench.jump(0.1)
    for _ in 0..<5 { bench.jump(0.1) }
    bench.store()

    let ends = bench.messages(to: client).filter { $0.cause == "ended" }
    #expect(
      ends.compactMap { $0.number("endedAt") } == (1...6).map { 1_764_480_000.25 + Double($0) / 10 }
    )
    #expect(Set(ends.compactMap { $0.timers.first?.revision }).count == 6)
  }

  @Test func `sends the last of more than fifteen crossings`() {
    var bench = repeating(1)
    let client = bench.subscriber(to: "t0")

    bench.jump(0.1)
    for _ in 0..<40 { bench.jump(0.1) }
    bench.store()

    let ends = bench.messages(to: client).filter { $0.cause == "ended" }
    #expect(ends.count == 2)
    #expect(ends.last?.number("endedAt") == 1_764_480_004.35)
  }

  @Test func `is bounded, whatever is due`() {
    var bench = repeating(1_000, every: "30")

    for _ in 0..<20 { bench.jump(30) }

    #expect(bench.pendingWrites.count == 512)
    bench.store()
    #expect(bench.records.values.allSatisfy { $0.timer.revision > 1_000 })
  }

  @Test func `delays no tick and no answer`() {
    var bench = repeating(1_000, every: "30")
    bench.ask(#"{"command":"start","timer":"tea","duration":300,"force":true}"#)
    bench.jump(29.5)
    let client = bench.subscriber(to: "tea", every: "1")
    bench.jump(0.5)
    // A thousand crossings and one tick are due by now.
    #expect(bench.heard(by: client).count { $0.hasPrefix("tick") } == 1)
    #expect(bench.pendingWrites.count < 200)

    bench.send(#"{"id":1,"command":"sync"}"#, from: client)
    #expect(bench.heard(by: client) == ["ok 1"])
  }

  @Test func `pauses reading of no client`() {
    var bench = HubBench.make {
      $0.timersMax = 1_000
      $0.pendingMax = 100
    }
    for index in 0..<500 {
      bench.ask(
        #"{"command":"start","timer":"t\#(index)","duration":30,"atZero":"repeat"}"#)
    }
    for _ in 0..<10 { bench.jump(30) }
    #expect(bench.pendingWrites.count > 100)

    let client = bench.connect()
    bench.send(#"{"id":1,"command":"start","timer":"tea"}"#, from: client)

    #expect(bench.pausedConnections == [])
  }

  @Test func `adds no crossing once it stops`() {
    var bench = repeating(100)
    bench.jump(0.1)
    bench.stop()
    let pending = bench.pendingWrites.count

    bench.store()
    bench.jump(1)

    #expect(pending <= 101 + 64)
    #expect(bench.pendingWrites.isEmpty)
    #expect(bench.isStopped)
  }

  @Test func `writes each timer once when a server starts late`() {
    let bench = repeating(50)

    let restarted = bench.restarted(after: 1)

    #expect(restarted.pendingWrites.count == 50)
  }

  @Test(arguments: ["pause", "finish", "update"])
  func `comes before a change that finds it due, though the disk refused it just now`(
    _ command: String
  ) {
    var bench = repeating(1, every: "5")
    let client = bench.subscriber(to: "t0")
    bench.jump(5)
    bench.failStore()
    bench.jump(0.2)

    bench.send(
      #"{"id":1,"command":"\#(command)","timer":"t0","title":"x"}"#
        .replacingOccurrences(of: command == "update" ? "§" : #","title":"x""#, with: ""),
      from: client)
    bench.store()

    let heard = bench.messages(to: client)
    #expect(heard.map { $0.cause ?? "reply" }.first == "ended")
    #expect(heard.first?.number("endedAt") == 1_764_480_005.25)
    #expect(heard.count { $0.cause == "ended" } == 1)
  }

  @Test func `comes before a change while an earlier crossing is on its way`() {
    var bench = repeating(1, every: "1")
    let client = bench.subscriber(to: "t0")
    bench.jump(1)
    bench.jump(2.5)

    bench.send(#"{"id":1,"command":"finishAll"}"#, from: client)
    bench.store()

    let heard = bench.messages(to: client)
    #expect(
      heard.compactMap { $0.number("endedAt") }
        == [1_764_480_001.25, 1_764_480_002.25, 1_764_480_003.25])
    #expect(heard.last?.timers.first?.number("elapsedTime") == 0.5)
  }
}
