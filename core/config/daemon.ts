import type { DaemonLog } from '../log/index.ts'
import type { Loaded } from './reload.ts'

/** What the program that starts a daemon hands to it. */
export interface Surroundings<Config> {
  readonly log: DaemonLog
  /** Reads the configuration again, at SIGHUP. */
  load(): Promise<Loaded<Config>>
  /** To be called once the daemon runs: with `-d` the program that started it waits for that. */
  started(): void
}
