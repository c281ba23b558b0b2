public import Foundation
import TimerStorage

/// Where a timer is kept.
public enum DataSourceType {
  /// In the defaults of an app; values of earlier versions of this library's model are found again.
  case userDefaults(UserDefaults)
  /// Nowhere: gone with the object.
  case inMemory
  /// In a folder, one JSON file for each timer; each change is on the disk before it is reported. Several processes may
  /// use the folder at the same time.
  case jsonFiles(directory: URL)
}

extension DataSourceType {
  var dataSource: any DataSource {
    switch self {
    case .userDefaults(let defaults): UserDefaultsClient(userDefaults: defaults)
    case .inMemory: InMemoryDataSource()
    case .jsonFiles(let directory): JSONFilesDataSource(directory: directory)
    }
  }
}
