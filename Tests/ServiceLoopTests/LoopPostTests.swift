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

    #expect(post.takeReports().map(number) == [1, 2, 3])
    #expect(post.takeReports().isEmpty)
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

    _ = post.takeReports()

    #expect(post.isExhausted)
  }

  @Test func `knows the newest figures`() {
    var counters = TransportCounters()
    counters.acceptedCount = 7

    post.report([], counters)

    #expect(post.counters.acceptedCount == 7)
  }

  @Test func `holds back a loop that reports faster than it is listened to`() {
    let total = 200
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { [post] in
      for number in 0..<total {
        post.report([message(number, byteCount: 131_072)], TransportCounters())
      }
      done.signal()
    }

    var got: [Int] = []
    var most = 0
    while got.count < total {
      // Later than the other is done, if nothing holds it back.
      Thread.sleep(forTimeInterval: 0.02)
      let reports = post.takeReports()
      most = max(most, reports.count)
      got += reports.map(number)
    }
    done.wait()

    #expect(got == Array(0..<total))
    #expect(most <= LoopPost.bytesMax / 131_072 + 1)
  }

  @Test func `lets a loop that is held back take its orders`() {
    let isFree = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { [post] in
      post.report([message(1, byteCount: LoopPost.bytesMax + 1)], TransportCounters())
      isFree.signal()
    }
    #expect(isFree.wait(timeout: .now() + 0.05) == .timedOut)

    post.order { $0.append(.stop) }

    #expect(isFree.wait(timeout: .now() + 5) == .success)
  }

  @Test func `holds back a server that orders faster than a loop does it`() {
    let isFree = DispatchSemaphore(value: 0)
    let large = Frame(Array(repeating: 0, count: LoopPost.bytesMax + 1))
    post.order { $0.append(.send(large, to: ConnectionID(1))) }
    DispatchQueue.global().async { [post] in
      post.waitForRoom()
      isFree.signal()
    }
    #expect(isFree.wait(timeout: .now() + 0.05) == .timedOut)

    _ = post.takeOrders()

    #expect(isFree.wait(timeout: .now() + 5) == .success)
  }

  @Test func `does not wait for a loop that has ended`() {
    let large = Frame(Array(repeating: 0, count: LoopPost.bytesMax + 1))
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
