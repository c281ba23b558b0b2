// What the thread sanitizer has to see and what not, with `seen_mutex.c` in front of it: `Tests/Sanitizers/run.sh` runs this
// first, since a check that is blind is clean too.
//
//   races quiet    threads wait for one mutex: nothing is to be told
//   races loud     one more thread changes the same number without it: that is to be told

import Dispatch
import Foundation
import Synchronization

final class Counter: @unchecked Sendable {
  let mutex = Mutex(())
  var count = 0
}

let counter = Counter()
let done = DispatchGroup()

/// Threads of their own, since a queue may do its work on one.
func start(_ work: @escaping @Sendable (Counter) -> Void) {
  done.enter()
  let thread = Thread {
    for _ in 0..<20_000 { work(counter) }
    done.leave()
  }
  thread.start()
}

for _ in 0..<4 {
  start { counter in counter.mutex.withLock { _ in counter.count += 1 } }
}
if CommandLine.arguments.contains("loud") {
  // It never takes the mutex, so that nothing orders it, however the threads are scheduled.
  start { counter in counter.count += 1 }
}
done.wait()
print("counted")
