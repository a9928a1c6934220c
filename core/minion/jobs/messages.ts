/** Messages between the minion and its job processes. Values whose types must be preserved are encoded as MessagePack. */

import type { FileHash } from '../../author/files.ts'
import type { Download } from '../../fileserver/index.ts'
import type { SpoolEntry } from '../../jobs/return-spool.ts'
import type { LoadingFile } from '../../loader/index.ts'
import type { RelayedLine } from '../../log/relay.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'

export interface JobProcessStart {
  readonly type: 'start'
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly grains: Uint8Array
  readonly pillar: Uint8Array
  /** Time that a file of extensions may take to load, milliseconds. */
  readonly loadMs: number
  /** Reasons for files that blocked an earlier process, by `fileKey`. */
  readonly blocked: ReadonlyMap<string, string>
}

export type ToJobProcess =
  | JobProcessStart
  /** A job to run. `master` is the address of the master that published it. */
  | {
      readonly type: 'job'
      readonly job: Uint8Array
      readonly master: string
      readonly words: RawArguments | undefined
    }
  /** The return is on disk; the process can discard it. */
  | { readonly type: 'kept' }
  /** Asks why each call would be refused. The answer has null for a call that would not. */
  | { readonly type: 'check'; readonly calls: Uint8Array }
  /** Asks for a description of the modules, by importing them or by reading their text. */
  | { readonly type: 'describe'; readonly imports: boolean }
  | { readonly type: 'answer'; readonly call: number; readonly value: Uint8Array }
  | { readonly type: 'failure'; readonly call: number; readonly message: string }
  /** The answer to 'download'. `result` is false if the process is to do it itself. */
  | { readonly type: 'downloaded'; readonly call: number; readonly result: boolean | DownloadFailure }

/** An error of `download`: a SaltError, which has `data`, or one of the system. */
export interface DownloadFailure {
  readonly message: string
  readonly code?: string
  readonly errno?: number
  readonly data?: Readonly<Record<string, unknown>>
}

export type FromJobProcess =
  | { readonly type: 'ready' }
  | LoadingFile
  /** The job with its secret arguments masked. Sent if it has arguments. */
  | { readonly type: 'shown'; readonly job: Uint8Array }
  /**
   * A return. `last`: the process ends after 'kept'. `spooled`: the key of a return that is in the spool already; `ret` then
   * lacks its value.
   */
  | {
      readonly type: 'return'
      readonly ret: Uint8Array
      readonly last: boolean
      readonly spooled?: SpoolEntry['key']
    }
  /** The answer to 'check' or 'describe'. */
  | { readonly type: 'answered'; readonly answer: Uint8Array }
  | { readonly type: 'call'; readonly call: number; readonly method: string; readonly args: Uint8Array }
  /** Asks to download a file into the open file with the descriptor `into` of the process. */
  | {
      readonly type: 'download'
      readonly call: number
      readonly file: Download
      readonly wanted: FileHash
      readonly into: number
    }
  | { readonly type: 'log'; readonly line: RelayedLine }
