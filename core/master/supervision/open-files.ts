import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { MasterConfig } from '../../config/index.ts'
import type { Logger } from '../../log/index.ts'
import { allowedOpenFiles } from '../../process/open-files.ts'

interface OpenFiles {
  /** RLIMIT_NOFILE of this process; Node has already raised it as far as it may. */
  readonly allowed: number
  /** `max_open_files`. */
  readonly wanted: number
  /** Number of minions with an accepted key. */
  readonly minions: number
}

interface Advice {
  readonly level: 'warn' | 'info'
  readonly message: string
}

/** Files per minion: a connection to the publish port, one or more to the request port, and a share of the stores. */
const PER_MINION = 4

/** Salt's default of `max_open_files`. */
const DEFAULT_MAX_OPEN_FILES = 100_000

/** Return what to log about `max_open_files`: a process cannot raise its own hard limit. */
export function openFilesAdvice({ allowed, wanted, minions }: OpenFiles): Advice | undefined {
  if (allowed >= wanted) return undefined
  const tooFew = allowed < minions * PER_MINION
  const what = tooFew
    ? `This process may open ${allowed} files, which is too few for ${minions} accepted minions (${PER_MINION} for each)`
    : `This process may open ${allowed} files, and max_open_files is ${wanted}`
  const message =
    `${what}. Set LimitNOFILE=${Math.max(wanted, minions * PER_MINION)} in the service unit of salt-master, or run ` +
    '"ulimit -n" with that number before it is started.'
  return { level: tooFew || wanted !== DEFAULT_MAX_OPEN_FILES ? 'warn' : 'info', message }
}

/** Log how many files this master may open, if they are too few. */
export function adviseOnOpenFiles({ pki_dir, max_open_files: wanted }: MasterConfig, log: Logger): void {
  const allowed = allowedOpenFiles()
  const advice =
    allowed === undefined ? undefined : openFilesAdvice({ allowed, wanted, minions: accepted(pki_dir) })
  if (advice) log[advice.level](advice.message)
}

function accepted(pkiDir: string): number {
  try {
    return readdirSync(join(pkiDir, 'minions')).length
  } catch {
    return 0
  }
}
