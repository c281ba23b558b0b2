import Foundation
import Testing

@testable import WebSocketTransport

@Suite final class `The channel between two loops` {
  private let loop: EventLoop
  private let waker: LoopWaker
  private let channel: LoopChannel

  init() throws {
    loop = try EventLoop()
    waker = LoopWaker(loop)
    channel = LoopChannel(mainWaker: waker)
  }

  deinit { waker.close() }

  @Test func `delivers each event once, in order`() {
    channel.postEvents([message(1), message(2)], TransportCounters())
    channel.postEvents([message(3)], TransportCounters())

    #expect(channel.drainEvents(atMost: .max).map(number) == [1, 2, 3])
    #expect(channel.drainEvents(atMost: .max).isEmpty)
  }

  @Test func `delivers events in batches`() {
    var got: [Int] = []
    for number in 0..<100 {
      channel.postEvents([message(3 * number), message(3 * number + 1)], TransportCounters())
      channel.postEvents([message(3 * number + 2)], TransportCounters())
      let piece = channel.drainEvents(atMost: 2)
      #expect(piece.count == 2)
      got += piece.map(number(_:))
    }
    while case let piece = channel.drainEvents(atMost: 7), !piece.isEmpty {
      got += piece.map(number(_:))
    }

    #expect(got == Array(0..<300))
  }

  @Test func `delivers each action once, in order`() {
    let actions = (1...3).map { TransportAction.send(Frame([UInt8($0)]), to: ConnectionID(1)) }
    channel.enqueue { batch in for action in actions { batch.append(action) } }

    #expect(channel.drainActions().actions == actions)
    #expect(channel.drainActions().isEmpty)
  }

  @Test func `is drained when the last event was received, not when it was posted`() {
    channel.postEvents([message(1)], TransportCounters())
    #expect(!channel.isDrained)
    channel.postEnd()
    #expect(!channel.isDrained)

    _ = channel.drainEvents(atMost: 1)

    #expect(channel.isDrained)
  }

  @Test func `keeps the newest counters`() {
    var counters = TransportCounters()
    counters.acceptedCount = 7

    channel.postEvents([], counters)

    #expect(channel.counters.acceptedCount == 7)
  }

  @Test func `has a full event queue until the large event is received`() {
    channel.postEvents(
      [message(1), message(2, byteCount: LoopChannel.eventBytesMax)], TransportCounters())
    let isEventQueueFull = channel.isEventQueueFull
    _ = channel.drainEvents(atMost: 1)
    let isStillFarAhead = channel.isEventQueueFull
    _ = channel.drainEvents(atMost: 1)

    #expect(isEventQueueFull && isStillFarAhead)
    #expect(!channel.isEventQueueFull)
  }

  @Test func `blocks a sender whose actions exceed the limit`() {
    let isFree = DispatchSemaphore(value: 0)
    let large = Frame(Array(repeating: 0, count: LoopChannel.actionBytesMax + 1))
    channel.enqueue { $0.append(.send(large, to: ConnectionID(1))) }
    DispatchQueue.global().async { [channel] in
      channel.waitForCapacity()
      isFree.signal()
    }
    #expect(isFree.wait(timeout: .now() + 0.05) == .timedOut)

    _ = channel.drainActions()

    #expect(isFree.wait(timeout: .now() + 30) == .success)
  }

  @Test func `does not block for a loop that has ended`() {
    let large = Frame(Array(repeating: 0, count: LoopChannel.actionBytesMax + 1))
    channel.postEnd()
    channel.enqueue { $0.append(.send(large, to: ConnectionID(1))) }

    channel.waitForCapacity()

    #expect(channel.isDrained)
  }
}

private func message(_ number: Int, byteCount: Int = 4) -> TransportEvent {
  .received(ConnectionID(UInt64(number)), Array(repeating: 0, count: byteCount))
}

private func number(_ event: TransportEvent) -> Int {
  if case .received(let id, _) = event { Int(id.number) } else { -1 }
}
