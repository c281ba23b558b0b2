// swift-tools-version: 6.2
import PackageDescription

/// How every target of ours is compiled: Swift 6 mode comes with the tools version above.
let house: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Tests may look inside (`@testable`) and need no proof of their own memory safety.
let houseForTests: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "TimerSync",
  products: [
    .executable(name: "timersync", targets: ["timersync"]),
    .library(name: "PersistableTimer", targets: ["PersistableTimer"]),
    .library(name: "TimerCore", targets: ["TimerCore"]),
    .library(name: "TimerStorage", targets: ["TimerStorage"]),
  ],
  targets: [
    // C, found by pkg-config.
    .systemLibrary(
      name: "CLibwebsockets", pkgConfig: "libwebsockets", providers: [.apt(["libwebsockets-dev"])]),
    .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(
      name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibssl", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CLibqrencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .target(name: "CFiles"),
    // C, compiled from the sources in /usr/share of Debian's node-llhttp.
    .target(name: "CLLHTTP"),

    // The rooms, from the inside out. An arrow that is not listed here does not build.
    .target(name: "TimerCore", swiftSettings: house),
    .target(name: "JSONText", dependencies: ["TimerCore"], swiftSettings: house),
    .target(name: "TimerProtocol", dependencies: ["TimerCore", "JSONText"], swiftSettings: house),
    .target(
      name: "TimerStorage", dependencies: ["TimerCore", "JSONText", "CFiles"], swiftSettings: house),
    .target(
      name: "PersistableTimer", dependencies: ["TimerCore", "TimerStorage"], swiftSettings: house),
    .target(
      name: "WebSocketTransport",
      dependencies: ["CLibwebsockets", "CLibuv", "CLLHTTP", "CLibssl"],
      swiftSettings: house),
    .target(
      name: "TimerServer",
      dependencies: [
        "TimerCore", "TimerProtocol", "TimerStorage", "WebSocketTransport", "CLibcrypto",
        "CLibqrencode", "CFiles",
      ],
      swiftSettings: house),
    .executableTarget(
      name: "timersync", dependencies: ["TimerServer"],
      resources: [.embedInCode("Page")], swiftSettings: house),

    // Tests, a target a room.
    .testTarget(name: "TimerCoreTests", dependencies: ["TimerCore"], swiftSettings: houseForTests),
    .testTarget(
      name: "TimerProtocolTests", dependencies: ["TimerProtocol", "TimerCore"],
      swiftSettings: houseForTests),
    .testTarget(
      name: "TimerStorageTests", dependencies: ["TimerStorage", "TimerCore"],
      swiftSettings: houseForTests),
    .testTarget(
      name: "PersistableTimerTests", dependencies: ["PersistableTimer", "TimerCore"],
      swiftSettings: houseForTests),
    .executableTarget(
      name: "LibraryProcess", dependencies: ["PersistableTimer", "TimerStorage"],
      path: "Tests/LibraryProcess", swiftSettings: house),
    .executableTarget(
      name: "StoreBenchmark", dependencies: ["TimerStorage"],
      path: "Tests/Benchmarks/StoreBenchmark", swiftSettings: house),
    .testTarget(
      name: "TimerServerTests",
      dependencies: [
        "TimerServer", "TimerCore", "TimerProtocol", "TimerStorage", "WebSocketTransport",
      ],
      swiftSettings: houseForTests),
    .testTarget(
      name: "ServiceLoopTests", dependencies: ["WebSocketTransport"], swiftSettings: houseForTests),
    .executableTarget(
      name: "WebSocketEcho", dependencies: ["WebSocketTransport"], path: "Tests/WebSocketEcho",
      swiftSettings: house),
  ]
)

// `Tests/Fuzz/run.sh` asks for the fuzzer, which is linked with libFuzzer and compiled to count what it covers.
// Everywhere else its seeds are played by a test.
let fuzzed: [Target.Dependency] = [
  "TimerServer", "TimerCore", "TimerProtocol", "TimerStorage", "WebSocketTransport",
]
if Context.environment["TIMERSYNC_FUZZER"] != nil {
  package.targets.append(
    .executableTarget(
      name: "MessageFuzzer", dependencies: fuzzed,
      path: "Tests/Fuzz", exclude: ["SeedTests", "seeds", "run.sh", "messages.dict"],
      sources: ["Harness", "Fuzzer"], swiftSettings: houseForTests))
} else {
  package.targets.append(
    .testTarget(
      name: "MessageFuzzerTests", dependencies: fuzzed,
      path: "Tests/Fuzz", exclude: ["Fuzzer", "seeds", "run.sh", "messages.dict"],
      sources: ["Harness", "SeedTests"], swiftSettings: houseForTests))
}
