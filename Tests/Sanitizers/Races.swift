// What the thread sanitizer has to see and what not, with `seen_mutex.c` in front of it: `Tests/sanitize.sh` runs this
// first, since a check that is blind is clean too.
//
//   races quiet    many threads wait for one mutex: nothing is to be told
//   races loud     one thread holds a mutex to count, another does not: that is to be told

import Dispatch
import Synchronization

final class Guarded: Sendable {
  let numbers = Mutex<[Int]>([])
}

final class Unguarded: @unchecked Sendable {
  var count = 0
}

let guarded = Guarded()
let unguarded = Unguarded()
let isLoud = CommandLine.arguments.contains("loud")

DispatchQueue.concurrentPerform(iterations: 8) { thread in
  for number in 0..<5_000 {
    guarded.numbers.withLock { numbers in
      numbers.append(number)
      if numbers.count > 100 { numbers.removeAll() }
      if isLoud, thread == 0 { unguarded.count += 1 }
    }
    if isLoud, thread == 1 { unguarded.count += 1 }
  }
}
print("counted \(unguarded.count)")
