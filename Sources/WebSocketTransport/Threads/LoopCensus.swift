import Synchronization

/// What the loops of one server count together, so that its limits hold over all of them. Touched when
/// somebody comes or goes, never for a message.
final class LoopCensus: Sendable {
  let webSockets = Atomic(0)
  let exchanges = Atomic(0)
  let relays = Atomic(0)
  let addresses = Mutex(AddressTally())
}

/// One loop among those of its server.
struct LoopPlace {
  /// 0 is the first.
  let number: Int
  /// nil when it is the only one, which then counts for itself.
  let census: LoopCensus?

  static let alone = LoopPlace(number: 0, census: nil)

  var isFirst: Bool { number == 0 }

  /// How its listening socket gets on with those of the others.
  var portSharing: PortSharing {
    guard census != nil else { return .none }
    return isFirst ? .withFurther : .withFirst
  }

  /// Where the numbers of its connections and requests begin.
  var serialBase: UInt64 { UInt64(number) << Self.shift }

  /// Loops that fit into a number.
  static let countMax = 64
  /// Leaves 2^34 connections, each in one of 2^24 slots, and 2^58 requests.
  fileprivate static let shift: UInt64 = 58
}

extension ConnectionID {
  /// The loop that owns it; 0 is the first.
  public var loopNumber: Int { Int(number >> LoopPlace.shift) }
}

extension RequestID {
  /// The loop that owns it; 0 is the first.
  public var loopNumber: Int { Int(number >> LoopPlace.shift) }
}

/// What one loop has told the census.
struct CensusEntry {
  private let census: LoopCensus?
  private var webSocketCount = 0
  private var exchangeCount = 0
  private var relayCount = 0

  init(_ census: LoopCensus?) { self.census = census }

  /// Tells what there is now.
  mutating func tell(webSockets: Int, exchanges: Int, relays: Int) {
    guard let census else { return }
    Self.tell(census.webSockets, webSockets, &webSocketCount)
    Self.tell(census.exchanges, exchanges, &exchangeCount)
    Self.tell(census.relays, relays, &relayCount)
  }

  private static func tell(_ sum: borrowing Atomic<Int>, _ count: Int, _ told: inout Int) {
    guard count != told else { return }
    sum.add(count - told, ordering: .relaxed)
    told = count
  }

  /// Counts one more WebSocket, and answers how many there were before; exactly, though others do the same.
  mutating func addWebSocket(to own: Int) -> Int {
    guard let census else { return own }
    webSocketCount += 1
    return census.webSockets.add(1, ordering: .relaxed).oldValue
  }

  var webSocketsInAll: Int? { census?.webSockets.load(ordering: .relaxed) }
  var exchangesInAll: Int? { census?.exchanges.load(ordering: .relaxed) }
  var relaysInAll: Int? { census?.relays.load(ordering: .relaxed) }
}

extension ServiceLoop {
  /// Tells the others how many connections there are here.
  func tellCensus() {
    census.tell(
      webSockets: connections.count, exchanges: exchanges.count, relays: relays.count)
  }

  /// Descriptors of all loops: of a relay both ends of its pair and its client's socket, one of which is
  /// among the connections.
  var descriptorsUsed: Int {
    tellCensus()
    return (census.webSocketsInAll ?? connections.count)
      + (census.exchangesInAll ?? exchanges.count)
      + (room.perWebSocket - 1) * (census.relaysInAll ?? relays.count)
  }
}
