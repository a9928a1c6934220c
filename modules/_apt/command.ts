import type { Context } from 'salt-ts'
import { parseEnv } from '../_cmd/env.ts'
import type { ProcessResult } from '../_cmd/params.ts'
import { LOCK_WAIT, waitingForLock } from '../_pkg/lock.ts'
import { inScope, type ProgramOptions, runProgram } from '../_pkg/program.ts'

/** Keeps apt, dpkg and their hooks from asking questions. */
const UNATTENDED = {
  APT_LISTBUGS_FRONTEND: 'none',
  APT_LISTCHANGES_FRONTEND: 'none',
  DEBIAN_FRONTEND: 'noninteractive',
  UCF_FORCE_CONFFOLD: '1',
}

/** Run a program of apt or dpkg that only reads. */
export const readApt = (
  words: readonly string[],
  context: Context,
  given: ProgramOptions = {},
): Promise<ProcessResult> =>
  runProgram(words, context, { ...given, env: { ...UNATTENDED, ...parseEnv(given.env) } })

/**
 * Run a program of apt or dpkg that changes something. apt itself waits for the lock of dpkg; for the locks of its lists
 * and archives, and for dpkg, it is run again.
 */
export const changeWithApt = (
  words: readonly string[],
  context: Context,
  given: ProgramOptions = {},
): Promise<ProcessResult> => waitingForLock(() => readApt(words, context, given), holdsLock, context)

/** Run apt-get in a scope of systemd of its own, for changes of installed packages. */
export async function aptGet(
  args: readonly string[],
  context: Context,
  given: ProgramOptions = {},
): Promise<ProcessResult> {
  const wait = ['-o', `DPkg::Lock::Timeout=${LOCK_WAIT.limitMs / 1000}`]
  return changeWithApt(await inScope(['apt-get', ...wait, ...args], context), context, given)
}

const holdsLock = ({ stderr }: ProcessResult): boolean =>
  /Could not get lock|Unable to lock|is locked by another process/.test(stderr)

/** Name a field in a format of dpkg-query. */
export const field = (name: string): string => `\${${name}}`
