// libFuzzer over the bytes of a script: Tests/Fuzz/run.sh builds and runs it.

typealias Examine = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// libFuzzer's own entry, which comes with `-sanitize=fuzzer`.
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ examine: Examine
) -> CInt

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
_ = runFuzzer(&count, &arguments) { bytes, count in
  FuzzedServer.play(UnsafeBufferPointer(start: bytes, count: count))
  return 0
}
