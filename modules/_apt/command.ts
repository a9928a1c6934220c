import type { Context } from 'salt-ts'
import { parseEnv } from '../_cmd/env.ts'
import { LOCK_WAIT, waitingForLock } from '../_pkg/lock.ts'
import { type Outcome, type ProgramOptions, runProgram } from '../_program/run.ts'
import { inScope } from '../_systemd/scope.ts'

/** Keeps apt, dpkg and their hooks from asking questions. */
const UNATTENDED = {
  APT_LISTBUGS_FRONTEND: 'none',
  APT_LISTCHANGES_FRONTEND: 'none',
  DEBIAN_FRONTEND: 'noninteractive',
  UCF_FORCE_CONFFOLD: '1',
}

type Words = readonly [string, ...string[]]
type AptOptions = Omit<ProgramOptions, 'env'> & { readonly env?: unknown }

/** Run a program of apt or dpkg that only reads. */
export const readApt = (words: Words, context: Context, given: AptOptions = {}): Promise<Outcome> =>
  runProgram(words, context, {
    quiet: given.env !== undefined,
    ...given,
    env: { ...UNATTENDED, ...parseEnv(given.env, context.log) },
  })

/**
 * Run a program of apt or dpkg that changes something. apt itself waits for the lock of dpkg; for the locks of its lists
 * and archives, and for dpkg, it is run again.
 */
export const changeWithApt = (words: Words, context: Context, given: AptOptions = {}): Promise<Outcome> =>
  waitingForLock(() => readApt(words, context, given), holdsLock, context)

/** Run apt-get in a scope of systemd of its own, for changes of installed packages. */
export async function aptGet(
  args: readonly string[],
  context: Context,
  given: AptOptions = {},
): Promise<Outcome> {
  const wait = ['-o', `DPkg::Lock::Timeout=${LOCK_WAIT.limitMs / 1000}`]
  return changeWithApt(
    await inScope(['apt-get', ...wait, ...args], context, 'salt-ts: packages'),
    context,
    given,
  )
}

const holdsLock = ({ stderr }: Outcome): boolean =>
  /Could not get lock|Unable to lock|is locked by another process/.test(stderr)

/** Name a field in a format of dpkg-query. */
export const field = (name: string): string => `\${${name}}`
