/// Connections by identity: a slot and a serial number, so that a look-up is one array access and an old
/// identity never finds a new connection.
struct ConnectionTable {
  private var slots: [Connection?] = []
  private var free: [Int] = []
  private var serial: UInt64 = 0
  private let serialBase: UInt64
  private(set) var count = 0

  private static let slotBits: UInt64 = 24
  private static let slotMask: UInt64 = (1 << slotBits) - 1

  /// `serialBase` is in every identity.
  init(serialBase: UInt64) { self.serialBase = serialBase }

  subscript(id: ConnectionID) -> Connection? {
    let slot = Int(id.number & Self.slotMask)
    guard slot < slots.count, let connection = slots[slot], connection.id == id else { return nil }
    return connection
  }

  mutating func insert(_ make: (ConnectionID) -> Connection) -> Connection {
    serial += 1
    let slot = free.popLast() ?? slots.count
    let connection = make(ConnectionID(serialBase | serial << Self.slotBits | UInt64(slot)))
    if slot == slots.count { slots.append(connection) } else { slots[slot] = connection }
    count += 1
    return connection
  }

  mutating func remove(_ id: ConnectionID) {
    guard self[id] != nil else { return }
    let slot = Int(id.number & Self.slotMask)
    slots[slot] = nil
    free.append(slot)
    count -= 1
  }

  /// The present connections; the table may change during the iteration over them.
  var all: [Connection] { slots.compactMap { $0 } }
}
