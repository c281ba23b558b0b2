/// The version of the program.
public enum Version {
  public static let text = "1.0.0"
}
