import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allowedOpenFiles } from '../base/open-files.ts'
import type { MasterConfig } from '../config/index.ts'
import type { Logger } from '../log/index.ts'

interface OpenFiles {
  /** What the system allows this process (RLIMIT_NOFILE); Node has raised it as far as it may by itself. */
  readonly allowed: number
  /** `max_open_files`. */
  readonly wanted: number
  /** Minions whose key is accepted. */
  readonly minions: number
}

interface Advice {
  readonly level: 'warn' | 'info'
  readonly message: string
}

/** Each minion holds a connection to the publish port and one or more to the request port; the rest is files. */
const PER_MINION = 4

/** Salt's default, which nobody asked for. */
const USUAL = 100_000

/** What to say about `max_open_files`: a process cannot raise its own limit, only whoever starts it can. */
export function openFilesAdvice({ allowed, wanted, minions }: OpenFiles): Advice | undefined {
  if (allowed >= wanted) return undefined
  const tooFew = allowed < minions * PER_MINION
  const what = tooFew
    ? `This process may open ${allowed} files, which is too few for ${minions} accepted minions (${PER_MINION} for each)`
    : `This process may open ${allowed} files, and max_open_files is ${wanted}`
  const message =
    `${what}. Set LimitNOFILE=${Math.max(wanted, minions * PER_MINION)} in the service unit of salt-master, or run ` +
    '"ulimit -n" with that number before it is started.'
  return { level: tooFew || wanted !== USUAL ? 'warn' : 'info', message }
}

/** Tell how many files this master may open, if those are too few. */
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
