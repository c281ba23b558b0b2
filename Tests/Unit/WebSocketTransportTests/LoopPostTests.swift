import Foundation
import Testing

@testable import WebSocketTransport

@Suite final class `The post between two loops` {
  private let loop: EventLoop
  private let bell: Bell
  private let post: LoopPost

  init() throws {
    loop = try EventLoop()
    bell = Bell(loop)
    post = LoopPost(firstBell: bell)
  }

  deinit { bell.close() }

  @Test func `hands over each report once, in order`() {
    post.report([message(1), message(2)], TransportCounters())
    post.report([message(3)], TransportCounters())

    #expect(post.takeReports(atMost: .max).map(number) == [1, 2, 3])
    #expect(post.takeReports(atMost: .max).isEmpty)
  }

  @Test func `hands over reports in pieces`() {
    var got: [Int] = []
    for number in 0..<100 {
      post.report([message(3 * number), message(3 * number + 1)], TransportCounters())
      post.report([message(3 * number + 2)], TransportCounters())
      let piece = post.takeReports(atMost: 2)
      #expect(piece.count == 2)
      got += piece.map(number(_:))
    }
    while case let piece = post.takeReports(atMost: 7), !piece.isEmpty {
      got += piece.map(number(_:))
    }

    #expect(got == Array(0..<300))
  }

  @Test func `hands over each order once, in order`() {
    let actions = (1...3).map { TransportAction.send(Frame([UInt8($0)]), to: ConnectionID(1)) }
    post.order { batch in for action in actions { batch.append(action) } }

    #expect(post.takeOrders().actions == actions)
    #expect(post.takeOrders().isEmpty)
  }

  @Test func `is exhausted when the last report was taken, not when it was made`() {
    post.report([message(1)], TransportCounters())
    #expect(!post.isExhausted)
    post.reportEnd()
    #expect(!post.isExhausted)

    _ = post.takeReports(atMost: 1)

    #expect(post.isExhausted)
  }

  @Test func `knows the newest figures`() {
    var counters = TransportCounters()
    counters.acceptedCount = 7

    post.report([], counters)

    #expect(post.counters.acceptedCount == 7)
  }

  @Test func `is far ahead of a loop that does not listen`() {
    post.report([message(1), message(2, byteCount: LoopPost.reportBytesMax)], TransportCounters())
    let isFarAhead = post.isFarAhead
    _ = post.takeReports(atMost: 1)
    let isStillFarAhead = post.isFarAhead
    _ = post.takeReports(atMost: 1)

    #expect(isFarAhead && isStillFarAhead)
    #expect(!post.isFarAhead)
  }

  @Test func `holds back a server that orders faster than a loop does it`() {
    let isFree = DispatchSemaphore(value: 0)
    let large = Frame(Array(repeating: 0, count: LoopPost.orderBytesMax + 1))
    post.order { $0.append(.send(large, to: ConnectionID(1))) }
    DispatchQueue.global().async { [post] in
      post.waitForRoom()
      isFree.signal()
    }
    #expect(isFree.wait(timeout: .now() + 0.05) == .timedOut)

    _ = post.takeOrders()

    #expect(isFree.wait(timeout: .now() + 30) == .success)
  }

  @Test func `does not wait for a loop that has ended`() {
    let large = Frame(Array(repeating: 0, count: LoopPost.orderBytesMax + 1))
    post.reportEnd()
    post.order { $0.append(.send(large, to: ConnectionID(1))) }

    post.waitForRoom()

    #expect(post.isExhausted)
  }
}

private func message(_ number: Int, byteCount: Int = 4) -> TransportEvent {
  .received(ConnectionID(UInt64(number)), Array(repeating: 0, count: byteCount))
}

private func number(_ event: TransportEvent) -> Int {
  if case .received(let id, _) = event { Int(id.number) } else { -1 }
}
