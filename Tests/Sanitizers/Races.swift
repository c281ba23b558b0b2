// A program with and without a race, for the thread sanitizer with `seen_mutex.c` loaded. `Tests/Sanitizers/run.sh`
// runs it first, since a sanitizer that sees nothing reports nothing.
//
//   races quiet    threads wait for one mutex: no race may be reported
//   races loud     one more thread changes the same number without the mutex: a race has to be reported

import Dispatch
import Foundation
import Synchronization

final class Counter: @unchecked Sendable {
  let mutex = Mutex(())
  var count = 0
}

let counter = Counter()
let done = DispatchGroup()

/// Starts a thread, since a queue may do all its work on one.
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
  // This thread never takes the mutex, so nothing orders its accesses, however the threads are scheduled.
  start { counter in counter.count += 1 }
}
done.wait()
print("counted")
