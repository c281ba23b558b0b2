// What a program sees that imports this module alone. The rules behind these types are the server's too.
@_exported public import struct TimerCore.PausePeriod
@_exported public import struct TimerCore.RestoreTimerData
@_exported public import enum TimerCore.RestoreType
@_exported public import struct TimerCore.TimerState
@_exported public import enum TimerCore.TimerStatus
