// swift-tools-version: 6.2
import PackageDescription

/// How every target of this package is compiled; Swift 6 mode comes with the tools version above.
let strictSettings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Tests may look inside (`@testable`) and need no proof of their own memory safety.
let testSettings: [SwiftSetting] = [
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

    // The modules, from the inside out. An import that is not listed here does not build.
    .target(name: "SharedAlgorithms", swiftSettings: strictSettings),
    .target(name: "TimerCore", swiftSettings: strictSettings),
    .target(name: "JSONText", dependencies: ["TimerCore"], swiftSettings: strictSettings),
    .target(
      name: "TimerProtocol", dependencies: ["TimerCore", "JSONText", "SharedAlgorithms"],
      swiftSettings: strictSettings),
    .target(
      name: "TimerStorage", dependencies: ["TimerCore", "JSONText", "SharedAlgorithms", "CFiles"],
      swiftSettings: strictSettings),
    .target(
      name: "PersistableTimer", dependencies: ["TimerCore", "TimerStorage"],
      swiftSettings: strictSettings),
    .target(
      name: "WebSocketTransport",
      dependencies: ["SharedAlgorithms", "CLibwebsockets", "CLibuv", "CLLHTTP", "CLibssl"],
      swiftSettings: strictSettings),
    .target(
      name: "TimerServer",
      dependencies: [
        "TimerCore", "TimerProtocol", "TimerStorage", "WebSocketTransport", "SharedAlgorithms",
        "CLibcrypto", "CLibqrencode", "CFiles",
      ],
      swiftSettings: strictSettings),
    .executableTarget(
      // `Page` is a link to `web`: it makes SwiftPM plan again when a file of the page comes or goes.
      name: "timersync", dependencies: ["TimerServer"], exclude: ["Page"],
      swiftSettings: strictSettings,
      plugins: ["EmbedPagePlugin"]),

    // The page: a tool that writes the files in `web` into a Swift source, and the plugin that runs it at each build.
    .executableTarget(name: "EmbedPage", swiftSettings: strictSettings),
    .plugin(
      name: "EmbedPagePlugin", capability: .buildTool(), dependencies: ["EmbedPage"],
      path: "Sources/EmbedPagePlugin"),

    // Tests, one target for each module, and what several of them use.
    .target(name: "TestSupport", path: "Tests/Unit/TestSupport", swiftSettings: testSettings),
    .testTarget(
      name: "SharedAlgorithmsTests", dependencies: ["SharedAlgorithms", "TestSupport"],
      path: "Tests/Unit/SharedAlgorithmsTests",
      swiftSettings: testSettings),
    .testTarget(
      name: "TimerCoreTests", dependencies: ["TimerCore"], path: "Tests/Unit/TimerCoreTests",
      swiftSettings: testSettings),
    .testTarget(
      name: "TimerProtocolTests", dependencies: ["TimerProtocol", "TimerCore"],
      path: "Tests/Unit/TimerProtocolTests",
      swiftSettings: testSettings),
    .testTarget(
      name: "TimerStorageTests", dependencies: ["TimerStorage", "TimerCore"],
      path: "Tests/Unit/TimerStorageTests",
      swiftSettings: testSettings),
    .testTarget(
      name: "PersistableTimerTests", dependencies: ["PersistableTimer", "TimerCore"],
      path: "Tests/Unit/PersistableTimerTests",
      swiftSettings: testSettings),
    .executableTarget(
      name: "LibraryProcess", dependencies: ["PersistableTimer", "TimerStorage"],
      path: "Tests/Programs/LibraryProcess", swiftSettings: strictSettings),
    .executableTarget(
      name: "StoreBenchmark", dependencies: ["TimerStorage"],
      path: "Tests/Programs/StoreBenchmark", swiftSettings: strictSettings),
    .testTarget(
      name: "TimerServerTests",
      dependencies: [
        "TimerServer", "TimerCore", "TimerProtocol", "TimerStorage", "WebSocketTransport",
        "TestSupport",
      ], path: "Tests/Unit/TimerServerTests",
      swiftSettings: testSettings),
    .testTarget(
      name: "WebSocketTransportTests", dependencies: ["WebSocketTransport", "TestSupport"],
      path: "Tests/Unit/WebSocketTransportTests",
      swiftSettings: testSettings),
    .executableTarget(
      name: "WebSocketEcho", dependencies: ["WebSocketTransport"],
      path: "Tests/Programs/WebSocketEcho",
      swiftSettings: strictSettings),
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
      sources: ["Harness", "Fuzzer"], swiftSettings: testSettings))
} else {
  package.targets.append(
    .testTarget(
      name: "MessageFuzzerTests", dependencies: fuzzed,
      path: "Tests/Fuzz", exclude: ["Fuzzer", "seeds", "run.sh", "messages.dict"],
      sources: ["Harness", "SeedTests"], swiftSettings: testSettings))
}
