import Testing

@testable import WebSocketTransport

@Suite struct `A batch of actions` {
  let group = GroupID(1)

  func tick(_ text: String, _ key: UInt64 = 7) -> TransportAction {
    .broadcast(Frame(Array(text.utf8), replacementKey: key), to: group)
  }

  func change(_ text: String) -> TransportAction {
    .broadcast(Frame(Array(text.utf8)), to: group)
  }

  func batch(_ actions: [TransportAction]) -> ActionBatch {
    var batch = ActionBatch(toleratedBytes: 0)
    for action in actions { batch.append(action) }
    return batch
  }

  @Test func `keeps what does not replace anything in its order`() {
    let actions = [change("a"), .join(ConnectionID(1), group), change("b"), change("a")]

    #expect(batch(actions).actions == actions)
  }

  @Test func `holds the newest only of frames that replace each other, at the newest one's place`()
  {
    let batch = batch([tick("1"), change("a"), tick("2"), change("b"), tick("3")])

    #expect(batch.actions == [change("a"), change("b"), tick("3")])
  }

  @Test func `keeps all of them while there are few`() {
    let actions = (0..<100).map { tick("\($0)") }
    var batch = ActionBatch()
    for action in actions { batch.append(action) }

    #expect(batch.actions == actions)
  }

  @Test func `counts and replaces all messages of a frame together`() {
    let long = Array(repeating: UInt8(ascii: "x"), count: 600)
    func set(_ text: String) -> TransportAction {
      .broadcast(Frame(Array(text.utf8), additional: [long, long], replacementKey: 7), to: group)
    }
    var batch = ActionBatch(toleratedBytes: 1_000)
    for action in [set("1"), change("a"), set("2")] { batch.append(action) }

    #expect(batch.actions == [change("a"), set("2")])
    #expect((1_200..<1_500).contains(batch.byteCount))
  }

  @Test func `tells frames with other keys and of other groups apart`() {
    let other = TransportAction.broadcast(Frame([1], replacementKey: 7), to: GroupID(2))
    let actions = [tick("1"), tick("1", 8), other]

    #expect(batch(actions).actions == actions)
  }

  @Test(arguments: [
    TransportAction.leave(ConnectionID(1), GroupID(1)),
    .close(ConnectionID(1), .goingAway, reason: ""),
  ])
  func `keeps frames sent before a connection is closed`(_ going: TransportAction) {
    let batch = batch([tick("1"), going, tick("2"), tick("3")])

    #expect(batch.actions == [tick("1"), going, tick("3")])
  }

  @Test func `stays small though it is never delivered`() {
    var batch = ActionBatch(toleratedBytes: 1_000)
    batch.append(change("first"))
    for number in 0..<100_000 { batch.append(tick("\(number)", UInt64(number % 3))) }

    #expect(batch.actions.first == change("first"))
    #expect(batch.actions.suffix(3) == [tick("99997", 1), tick("99998", 2), tick("99999", 0)])
    #expect(batch.slotCount < 5_000)
    #expect(batch.byteCount < 1_200)
  }

  @Test func `counts the bytes that can't be dropped`() {
    let batch = batch(Array(repeating: change(String(repeating: "x", count: 1_000)), count: 100))

    #expect(batch.byteCount >= 100_000)
  }

  @Test func `is not empty when only the certificate or the end is asked for`() {
    var reload = ActionBatch()
    reload.reloadsCertificate = true
    var finish = ActionBatch()
    finish.finishes = true

    #expect(ActionBatch().isEmpty && !reload.isEmpty && !finish.isEmpty)
  }
}
