/** Messages between `salt-ts dev` and the process in which the master, the minions and the author's functions run. */
import type { LoadingFile } from '../../loader/index.ts'

/** A minion of a real master. */
export interface RealFleet {
  /** The folder of the master's configuration. */
  readonly configDir: string
  readonly minion: string
}

export interface FleetSettings {
  /** The author's folder. */
  readonly folder: string
  /** Number of minions of its own, or a minion of a real master. */
  readonly minions: number | RealFleet
  /** Outputter of results, unless a line names another. */
  readonly out?: string | undefined
  /** Level from which the minions log to standard error; functions of the author log from `info` up. */
  readonly logLevel: string
  /** Port of the inspector, if it is wanted; 0 for a free one. */
  readonly inspect: number | undefined
}

export type ToSession =
  /** Start. `root` is an empty folder for the files of the master and the minions, `completionCache` that for the tables of the completion. */
  | {
      readonly type: 'open'
      readonly root: string
      readonly completionCache: string
      readonly settings: FleetSettings
    }
  /** Run what was typed: a function with its arguments on all minions, or on that of the real master, `salt …` or `salt-run …`. */
  | { readonly type: 'run'; readonly words: readonly string[] }
  /** Use changed files from now on; `grains` also collects grains again. */
  | { readonly type: 'reload'; readonly grains: boolean }
  | { readonly type: 'stop' }

export type FromSession =
  | { readonly type: 'ready' }
  /** It cannot start. */
  | { readonly type: 'refused'; readonly message: string }
  /** A line was run; its output is written. */
  | { readonly type: 'ran'; readonly code: number }
  /** All files are used as they are now, but for a number of files that cannot be loaded; undefined if none is, for a reason in a note. */
  | { readonly type: 'loaded'; readonly failing: number | undefined }
  /** The tables of the completion are written. */
  | { readonly type: 'words' }
  /** Its key is that of one load: each minion loads the file. */
  | LoadingFile
  /** A file does not load. */
  | { readonly type: 'failure'; readonly text: string }
  | { readonly type: 'note'; readonly text: string }
