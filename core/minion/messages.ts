/** Messages between the minion and its job processes. Values that must keep their kind travel as MessagePack. */

import type { SpoolEntry } from '../jobs/return-spool.ts'
import type { LoadingFile } from '../loader/index.ts'
import type { LogLine } from '../log/line.ts'
import type { JobWords } from '../wire/typed-words.ts'

export interface JobProcessStart {
  readonly type: 'start'
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Uint8Array
  readonly pillar: Uint8Array
  /** How long a file of extensions may take to load, milliseconds. */
  readonly loadMs: number
  /** Files that blocked a process before, by `fileKey`, with the reason. */
  readonly blocked: ReadonlyMap<string, string>
}

export type ToJobProcess =
  | JobProcessStart
  /** `master`: address of the one that published it. */
  | {
      readonly type: 'job'
      readonly job: Uint8Array
      readonly master: string
      readonly words: JobWords | undefined
    }
  /** The return is on disk: the process may forget it. */
  | { readonly type: 'kept' }
  /** Say why each of the calls would be refused, or null. */
  | { readonly type: 'check'; readonly calls: Uint8Array }
  /** Say what the modules offer, by importing them or by their text. */
  | { readonly type: 'describe'; readonly imports: boolean }
  | { readonly type: 'answer'; readonly call: number; readonly value: Uint8Array }
  | { readonly type: 'failure'; readonly call: number; readonly message: string }

export type FromJobProcess =
  | { readonly type: 'ready' }
  | LoadingFile
  /** A job that has arguments as it may be shown, with secrets masked. */
  | { readonly type: 'shown'; readonly job: Uint8Array }
  /** `last`: the process ends when the return is kept. `spooled`: the key of a return that is in the spool already; `ret` lacks its value then. */
  | {
      readonly type: 'return'
      readonly ret: Uint8Array
      readonly last: boolean
      readonly spooled?: SpoolEntry['key']
    }
  /** To a check, or to be described. */
  | { readonly type: 'answered'; readonly answer: Uint8Array }
  | { readonly type: 'call'; readonly call: number; readonly method: string; readonly args: Uint8Array }
  | { readonly type: 'log'; readonly line: LogLine }
