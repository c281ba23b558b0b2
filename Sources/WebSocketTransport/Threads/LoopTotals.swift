import Synchronization

/// Counts shared by the loops of one server, so that its limits hold over all of them. Updated when connections open or
/// close, never for a message.
final class LoopTotals: Sendable {
  let webSockets = Atomic(0)
  let exchanges = Atomic(0)
  let relays = Atomic(0)
  let addresses = Mutex(AddressTally())
}

/// A loop's number among those of its server, and what it shares with them.
struct LoopPlace {
  /// 0 is the main loop.
  let number: Int
  /// nil for a single loop, which needs no shared counts.
  let totals: LoopTotals?

  static let alone = LoopPlace(number: 0, totals: nil)

  var isMain: Bool { number == 0 }

  /// How its listening socket shares the port with those of the other loops.
  var portSharing: PortSharing {
    guard totals != nil else { return .none }
    return isMain ? .firstSocket : .additionalSocket
  }

  /// Where the numbers of its connections and requests begin.
  var serialBase: UInt64 { UInt64(number) << Self.shift }

  /// Loops that fit into a number.
  static let countMax = 64
  /// Leaves 2^34 connections, each in one of 2^24 slots, and 2^58 requests.
  fileprivate static let shift: UInt64 = 58
}

extension ConnectionID {
  /// The loop that owns it; 0 is the main loop.
  public var loopNumber: Int { Int(number >> LoopPlace.shift) }
}

extension HTTPRequestID {
  /// The loop that owns it; 0 is the main loop.
  public var loopNumber: Int { Int(number >> LoopPlace.shift) }
}

/// One loop's contribution to the totals.
struct LoopContribution {
  private let totals: LoopTotals?
  private var webSocketCount = 0
  private var exchangeCount = 0
  private var relayCount = 0

  init(_ totals: LoopTotals?) { self.totals = totals }

  /// Updates the totals with this loop's counts.
  mutating func update(webSockets: Int, exchanges: Int, relays: Int) {
    guard let totals else { return }
    Self.update(totals.webSockets, webSockets, &webSocketCount)
    Self.update(totals.exchanges, exchanges, &exchangeCount)
    Self.update(totals.relays, relays, &relayCount)
  }

  private static func update(_ sum: borrowing Atomic<Int>, _ count: Int, _ counted: inout Int) {
    guard count != counted else { return }
    sum.add(count - counted, ordering: .relaxed)
    counted = count
  }

  /// Counts one more WebSocket and returns the number before. The result is exact, even if other loops do the same at
  /// once.
  mutating func addWebSocket(to own: Int) -> Int {
    guard let totals else { return own }
    webSocketCount += 1
    return totals.webSockets.add(1, ordering: .relaxed).oldValue
  }

  var totalWebSockets: Int? { totals?.webSockets.load(ordering: .relaxed) }
  var totalExchanges: Int? { totals?.exchanges.load(ordering: .relaxed) }
  var totalRelays: Int? { totals?.relays.load(ordering: .relaxed) }
}

extension ServiceLoop {
  /// Publishes this loop's counts to the other loops.
  func publishCounts() {
    contribution.update(
      webSockets: connections.count, exchanges: exchanges.count, relays: relays.count)
  }

  /// Descriptors of all loops: of a relay both ends of its pair and its client's socket, one of which is
  /// among the connections.
  var descriptorsUsed: Int {
    publishCounts()
    return (contribution.totalWebSockets ?? connections.count)
      + (contribution.totalExchanges ?? exchanges.count)
      + (descriptorLimits.perWebSocket - 1) * (contribution.totalRelays ?? relays.count)
  }
}
