/** Messages between the minion and its job processes. Values that must keep their kind travel as MessagePack. */

export interface JobProcessStart {
  readonly type: 'start'
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Uint8Array
  readonly pillar: Uint8Array
}

export type ToJobProcess =
  | JobProcessStart
  /** `master`: address of the one that published it. */
  | { readonly type: 'job'; readonly job: Uint8Array; readonly master: string }
  /** The return is on disk: the process may forget it. */
  | { readonly type: 'kept' }
  | { readonly type: 'answer'; readonly call: number; readonly value: Uint8Array }
  | { readonly type: 'failure'; readonly call: number; readonly message: string }

export type FromJobProcess =
  | { readonly type: 'ready' }
  /** A job that has arguments as it may be shown, with secrets masked. */
  | { readonly type: 'shown'; readonly job: Uint8Array }
  /** `last`: the process ends when the return is kept. */
  | { readonly type: 'return'; readonly ret: Uint8Array; readonly last: boolean }
  | { readonly type: 'call'; readonly call: number; readonly method: string; readonly args: Uint8Array }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly facts?: object }

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'
export const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error']
