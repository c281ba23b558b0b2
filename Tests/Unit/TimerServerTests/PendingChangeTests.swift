import Testing

@testable import TimerServer

@Suite struct `The life of a change` {
  private let all: [ChangeStage] = [
    .decided, .submitted, .published, .repeated, .overtaken, .failed,
  ]

  @Test func `leads from its decision over the store to one end`() {
    #expect(all.filter { ChangeStage.decided.leads(to: $0) } == [.submitted])
    #expect(
      all.filter { ChangeStage.submitted.leads(to: $0) } == [
        .published, .repeated, .overtaken, .failed,
      ])
    for end in all[2...] { #expect(!all.contains { end.leads(to: $0) }) }
  }

  @Test func `ends once`() {
    var pending = PendingChanges()
    let change = PendingChange(ticket: pending.nextTicket())
    pending.submit(change)

    let first = pending.end(change.ticket, as: .overtaken)
    let second = pending.end(change.ticket, as: .published)

    #expect(first?.stage == .overtaken)
    #expect(second == nil)
    #expect(pending.last == nil)
  }
}
