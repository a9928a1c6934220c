import type { DaemonLog } from '../log/index.ts'
import type { Loaded } from './reload.ts'

/** Passed to a daemon by the program that starts it. */
export interface DaemonEnvironment<Config> {
  readonly log: DaemonLog
  /** Read the configuration again, at SIGHUP. */
  load(): Promise<Loaded<Config>>
  /** Called once the daemon runs; with `-d`, the program that started it waits for this. */
  started(): void
}
