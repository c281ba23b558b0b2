import TestSupport
import Testing

@testable import WebSocketTransport

extension Connection {
  /// A connection without a socket, as after its end.
  fileprivate static func gone(_ id: ConnectionID) -> Connection {
    Connection(id, socket: nil, addressSlot: nil, isAnnounced: true, largeFrom: .max) { _ in }
  }
}

@Suite struct `A table of connections` {
  private static let base = LoopPlace(number: 5, totals: nil).serialBase

  private func table(_ count: Int) -> (table: ConnectionTable, connections: [Connection]) {
    var table = ConnectionTable(serialBase: Self.base)
    let connections = (0..<count).map { _ in table.insert(Connection.gone) }
    return (table, connections)
  }

  @Test func `has nobody at first`() {
    let table = ConnectionTable(serialBase: 0)

    #expect(table.count == 0)
    #expect(table.all.isEmpty)
    #expect(table[ConnectionID(0)] == nil)
    #expect(table[ConnectionID(1 << 24)] == nil)
    #expect(table[ConnectionID(.max)] == nil)
  }

  @Test func `finds each by its identity`() {
    let (table, connections) = table(100)

    #expect(table.count == 100)
    for connection in connections { #expect(table[connection.id] === connection) }
    #expect(table.all.map(\.id) == connections.map(\.id))
  }

  @Test func `hands back the connection that was made`() {
    var table = ConnectionTable(serialBase: 0)
    var made: [ConnectionID] = []

    let connection = table.insert { id in
      made.append(id)
      return Connection.gone(id)
    }

    #expect(made == [connection.id])
  }

  // No session of libwebsockets has the number 0.
  @Test func `gives each an identity of its own, which is not 0`() {
    let (_, connections) = table(1_000)

    #expect(Set(connections.map(\.id)).count == 1_000)
    #expect(connections.allSatisfy { $0.id.number != 0 })
  }

  @Test(arguments: [0, 1, 63])
  func `gives each an identity of its loop`(loop: Int) {
    var table = ConnectionTable(serialBase: LoopPlace(number: loop, totals: nil).serialBase)

    let connections = (0..<10).map { _ in table.insert(Connection.gone) }

    #expect(connections.allSatisfy { $0.id.loopNumber == loop })
    for connection in connections { #expect(table[connection.id] === connection) }
  }

  @Test func `finds none of another loop`() {
    let (table, connections) = table(3)
    let other = ConnectionID(connections[0].id.number ^ Self.base)

    #expect(table[other] == nil)
  }

  @Test func `forgets who is removed, and nobody else`() {
    var (table, connections) = table(3)

    table.remove(connections[1].id)

    #expect(table.count == 2)
    #expect(table[connections[1].id] == nil)
    #expect(table.all.map(\.id) == [connections[0].id, connections[2].id])
    connections.remove(at: 1)
    for connection in connections { #expect(table[connection.id] === connection) }
  }

  @Test func `removes nobody twice, and no stranger`() {
    var (table, connections) = table(2)
    table.remove(connections[0].id)

    table.remove(connections[0].id)
    table.remove(ConnectionID(0))
    table.remove(ConnectionID(.max))

    #expect(table.count == 1)
    #expect(table[connections[1].id] === connections[1])
  }

  @Test func `finds nobody new by an old identity`() {
    var (table, connections) = table(1)
    var old: [ConnectionID] = []
    for _ in 0..<100 {
      old.append(connections[0].id)
      table.remove(connections[0].id)
      connections = [table.insert(Connection.gone)]

      #expect(!old.contains(connections[0].id))
      #expect(old.allSatisfy { table[$0] == nil })
    }
    // An old connection does not remove a new one either.
    for id in old { table.remove(id) }
    #expect(table[connections[0].id] === connections[0])
  }

  @Test func `may change while it is walked`() {
    var (table, connections) = table(10)
    var seen: [ConnectionID] = []

    for connection in table.all {
      table.remove(connection.id)
      _ = table.insert(Connection.gone)
      seen.append(connection.id)
    }

    #expect(seen == connections.map(\.id))
    #expect(table.count == 10)
    connections = table.all
    #expect(Set(connections.map(\.id)).isDisjoint(with: seen))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `does as a dictionary does, whatever comes`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    var table = ConnectionTable(serialBase: Self.base)
    var present: [ConnectionID: Connection] = [:]
    var gone: Set<ConnectionID> = []
    var ids: [ConnectionID] = []
    for _ in 0..<1_000 {
      if !ids.isEmpty, Int.random(in: 0..<5, using: &random) < 2 {
        let id = ids.remove(at: Int.random(in: ids.indices, using: &random))
        table.remove(id)
        present[id] = nil
        gone.insert(id)
      } else {
        let connection = table.insert(Connection.gone)
        #expect(present.updateValue(connection, forKey: connection.id) == nil)
        #expect(!gone.contains(connection.id))
        ids.append(connection.id)
      }
      #expect(table.count == present.count)
    }
    #expect(Set(table.all.map(\.id)) == Set(present.keys))
    for (id, connection) in present { #expect(table[id] === connection) }
    for id in gone { #expect(table[id] == nil) }
  }
}

@Suite struct `A group of connections` {
  private let group = Group(GroupID(1))
  private let other = Group(GroupID(2))
  private let connections = (1...5).map { Connection.gone(ConnectionID(UInt64($0))) }

  private func numbers(_ group: Group) -> Set<UInt64> {
    Set(group.members.map(\.id.number))
  }

  @Test func `has its members, each once`() {
    for connection in connections + connections { group.add(connection) }

    #expect(group.members.count == 5)
    #expect(numbers(group) == [1, 2, 3, 4, 5])
    #expect(connections.allSatisfy { $0.memberships.count == 1 })
  }

  @Test(arguments: 0..<5)
  func `loses one member, wherever it stands`(_ index: Int) {
    for connection in connections { group.add(connection) }

    group.remove(connections[index])

    #expect(numbers(group) == Set(1...5).subtracting([UInt64(index + 1)]))
    #expect(connections[index].memberships.isEmpty)
    group.remove(connections[index])
    #expect(group.members.count == 4)
  }

  @Test func `is left by all, in any order`() {
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [1, 3, 0, 4, 2]] {
      for connection in connections { group.add(connection) }

      for (gone, index) in order.enumerated() {
        group.remove(connections[index])
        #expect(group.members.count == 4 - gone)
        #expect(!numbers(group).contains(UInt64(index + 1)))
      }
    }
  }

  @Test func `loses nobody who is not in it`() {
    group.add(connections[0])
    other.add(connections[1])

    group.remove(connections[1])

    #expect(numbers(group) == [1])
    #expect(numbers(other) == [2])
  }

  @Test func `shares members with others`() {
    for connection in connections {
      group.add(connection)
      other.add(connection)
    }

    for connection in connections.prefix(3) { group.remove(connection) }

    #expect(numbers(group) == [4, 5])
    #expect(numbers(other) == [1, 2, 3, 4, 5])
    for connection in connections { other.remove(connection) }
    #expect(other.members.isEmpty)
    #expect(connections.map(\.memberships.count) == [0, 0, 0, 1, 1])
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `is what it would be as a set, whatever comes`(seed: UInt64) {
    var random = SeededGenerator(state: seed)
    let groups = [group, other, Group(GroupID(3))]
    var sets: [Set<UInt64>] = [[], [], []]
    for _ in 0..<500 {
      let place = Int.random(in: 0..<3, using: &random)
      let connection = connections[Int.random(in: 0..<5, using: &random)]
      if Bool.random(using: &random) {
        groups[place].add(connection)
        sets[place].insert(connection.id.number)
      } else {
        groups[place].remove(connection)
        sets[place].remove(connection.id.number)
      }
      #expect(groups.map(numbers) == sets)
      #expect(groups.map(\.members.count) == sets.map(\.count))
    }
  }
}
