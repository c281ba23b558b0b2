/// A first-in, first-out queue; taking the first element takes constant time, however many there are.
struct Queue<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let first = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      // A long queue's memory is freed.
      elements = []
      head = 0
    } else if head * 2 >= elements.count {
      // Each one is moved once at most for each that was taken.
      elements.removeFirst(head)
      head = 0
    }
    return first
  }
}
