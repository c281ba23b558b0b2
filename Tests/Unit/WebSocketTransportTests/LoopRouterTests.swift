import Testing

@testable import WebSocketTransport

@Suite struct `The router of a group of loops` {
  let group = GroupID(9)
  let mine = LoopPlace(number: 0, totals: nil).connection
  let second = LoopPlace(number: 1, totals: nil).connection
  let third = LoopPlace(number: 2, totals: nil).connection
  let frame = Frame([1])

  /// A router that knows a connection of each worker loop.
  func router() -> LoopRouter {
    var router = LoopRouter(loopCount: 3)
    for id in [second, third] { #expect(router.admit(.opened(id, Handshake())) == true) }
    return router
  }

  /// The actions that each loop gets.
  func routed(_ actions: [TransportAction], _ router: inout LoopRouter) -> [[TransportAction]] {
    var own: [TransportAction] = []
    router.route(actions, own: &own)
    return [own, router.drainOutgoing(1), router.drainOutgoing(2)]
  }

  @Test func `routes an action for one connection to the loop that owns it`() {
    var router = router()
    let actions: (ConnectionID) -> [TransportAction] = { [self] id in
      [
        .send(frame, to: id), .join(id, group), .leave(id, group),
        .close(id, .goingAway, reason: ""),
      ]
    }

    let routed = routed(actions(third) + actions(mine) + actions(second), &router)

    #expect(routed == [actions(mine), actions(second), actions(third)])
  }

  @Test func `routes a response to the loop that received the request`() {
    var router = router()
    let base = LoopPlace(number: 2, totals: nil).serialBase
    let answer = TransportAction.respond(HTTPResponse(status: 200), to: HTTPRequestID(base + 1))

    #expect(routed([answer], &router) == [[], [], [answer]])
  }

  @Test func `routes a broadcast to its own loop and to loops with members`() {
    var router = router()
    _ = routed([.join(third, group), .join(mine, group)], &router)
    let broadcast = TransportAction.broadcast(frame, to: group)

    #expect(routed([broadcast], &router) == [[broadcast], [], [broadcast]])
  }

  @Test(arguments: [true, false])
  func `routes no broadcast to a loop whose last member is gone`(_ isClosed: Bool) {
    var router = router()
    _ = routed([.join(second, group), .join(third, group)], &router)
    if isClosed {
      #expect(router.admit(.closed(second)) == true)
    } else {
      _ = routed([.leave(second, group)], &router)
    }
    let broadcast = TransportAction.broadcast(frame, to: group)

    #expect(routed([broadcast], &router) == [[broadcast], [], [broadcast]])
  }

  @Test func `counts a member once that joins twice`() {
    var router = router()
    let broadcast = TransportAction.broadcast(frame, to: group)

    _ = routed([.join(second, group), .join(second, group), .leave(second, group)], &router)

    #expect(routed([broadcast], &router)[1] == [])
  }

  @Test func `keeps the deadline to itself and stops all`() {
    var router = router()

    let routed = routed([.setDeadline(afterMicroseconds: 5), .stop], &router)

    #expect(routed == [[.setDeadline(afterMicroseconds: 5), .stop], [.stop], [.stop]])
  }

  @Test func `passes only the end of a connection that the server has closed`() {
    var router = router()
    _ = routed([.close(second, .policyViolation, reason: "")], &router)

    #expect(router.admit(.received(second, [1])) == false)
    #expect(router.admit(.received(third, [1])) == true)
    #expect(router.admit(.closed(second)) == true)
    #expect(router.admit(.closed(second)) == false)
  }

  @Test func `ignores actions for connections that are gone`() {
    var router = router()
    #expect(router.admit(.closed(second)) == true)

    let routed = routed([.send(frame, to: second), .join(second, group)], &router)

    #expect(routed == [[], [], []])
  }
}

extension LoopPlace {
  /// The first connection of this loop.
  var connection: ConnectionID { ConnectionID(serialBase | 1 << 24) }
}
