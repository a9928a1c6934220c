import { CommandExecutionError, type Context } from 'salt-ts'
import { waitingForLock } from '../_pkg/lock.ts'
import { type Outcome, runProgram } from '../_program/run.ts'
import { isRpmLocked } from '../_rpm/query.ts'
import { inScope } from '../_systemd/scope.ts'
import { type Element, elementsOf } from '../_values/xml.ts'

/** What zypper has done with these exit codes: nothing special, patches, security patches, a reboot or a restart of zypper is needed. */
const SUCCESS: readonly number[] = [0, 100, 101, 102, 103]
/** It has done it, but: no repositories, some repositories could not be read, or scripts of packages failed. */
const WARNINGS: Readonly<Record<number, string>> = {
  6: 'No repositories are defined.',
  106: 'Some repositories could not be refreshed; look at their configuration, for instance with zypper ref -f.',
  107: 'Scripts of some packages have failed, although these are installed; see /var/log/zypp/history.',
}
const LOCKED = 7

export interface ZypperOptions {
  /** Another root folder than `/`. */
  readonly root?: string | undefined
  /** Let zypper write XML. */
  readonly xml?: boolean
  /** Do not wait for the lock of zypper, since nothing is changed. */
  readonly reading?: boolean
  /** Let zypper refresh the repositories where it thinks so. */
  readonly refreshing?: boolean
  /** Run it in a systemd scope of its own, for changes of packages. */
  readonly scoped?: boolean
  /** Return the outcome of a failure, too. */
  readonly tolerant?: boolean
}

/** Run zypper. While another one holds its lock, it is run again. @throws CommandExecutionError with what it says if it fails */
export async function zypper(
  args: readonly string[],
  context: Context,
  options: ZypperOptions = {},
): Promise<Outcome> {
  const { root, xml, reading, refreshing, scoped, tolerant } = options
  const quiet = !refreshing && !args.includes('--no-refresh')
  const words: [string, ...string[]] = [
    ...(['zypper', '--non-interactive'] as const),
    ...(xml ? ['--xmlout'] : []),
    ...(quiet ? ['--no-refresh'] : []),
    ...(root ? ['--root', root] : []),
    ...args,
  ]
  const env: Record<string, string> = reading && !refreshing ? { ZYPP_READONLY_HACK: '1' } : {}
  const started = scoped ? await inScope(words, context, 'salt-ts: packages') : words
  const run = () => runProgram(started, context, { env, ignoreRetcode: true, quiet: true })
  const outcome = await waitingForLock(run, isLocked, context)
  const warning = WARNINGS[outcome.retcode]
  if (warning !== undefined) context.log.warn(warning)
  if (warning === undefined && !hasSucceeded(outcome) && !tolerant)
    throw new CommandExecutionError(`Zypper command failure: ${reasonOf(outcome, xml ?? false)}`)
  return outcome
}

// rpm has a lock of its own, which other programs than zypper hold, too.
const isLocked = (outcome: Outcome): boolean =>
  outcome.retcode === LOCKED || (!hasSucceeded(outcome) && isRpmLocked(outcome.stdout + outcome.stderr))

export const hasSucceeded = ({ retcode }: Outcome): boolean => SUCCESS.includes(retcode)

/** Run zypper, and return the elements of this name that it writes. */
export async function zypperElements(
  name: string,
  args: readonly string[],
  context: Context,
  options: ZypperOptions = {},
): Promise<Element[]> {
  return elementsOf((await zypper(args, context, { ...options, xml: true })).stdout, name)
}

function reasonOf({ stdout, stderr }: Outcome, isXml: boolean): string {
  const errors = elementsOf(isXml ? stdout : '', 'message').filter(
    ({ attributes }) => attributes.type === 'error',
  )
  const said = isXml
    ? errors.map(({ text }) => text.trim()).join('\n') || stderr.trim()
    : stderr.trim() + stdout.trim()
  return said || "Check Zypper's logs."
}

/** Words of a command line come in such portions, so that it is not too long. */
export function* portions(words: readonly string[], size: number): Generator<readonly string[]> {
  for (let at = 0; at < words.length; at += size) yield words.slice(at, at + size)
}
