/** The keys of hosts to which users log in. */
import { createHmac, randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { CommandNotFoundError, type Context, SaltInvocationError } from 'salt-ts'
import { findUser, type User } from '../_cmd/users.ts'
import { which } from '../_cmd/which.ts'
import { fingerprintOf } from './keys.ts'
import { readText, writeOwned } from './places.ts'

export interface HostEntry {
  readonly hostname: string
  readonly key: string
  readonly enc: string
  readonly fingerprint?: string
  /** Port of the host, if it was stored with another than 22. */
  readonly port?: number
}
export interface HostProblem {
  readonly status: 'error'
  readonly error: string
}
interface HostsFile {
  readonly path: string
  readonly user: User | undefined
}

export const DEFAULT_PORT = 22

export const problem = (error: string): HostProblem => ({ status: 'error', error })

export const isProblem = (found: object | null): found is HostProblem =>
  found !== null && 'status' in found && found.status === 'error'

/** Find the file: that of a user, or that of the host. */
export async function hostsFile(
  name: string | undefined,
  config: string | undefined,
): Promise<HostsFile | HostProblem> {
  const file = config ?? (name ? '.ssh/known_hosts' : '/etc/ssh/ssh_known_hosts')
  const user = name ? await findUser(name) : undefined
  if (name && !user) return problem(`User ${name} does not exist`)
  if (isAbsolute(file)) return { path: file, user }
  return user ? { path: join(user.home, file), user } : problem('Cannot determine absolute path to file.')
}

/** Write a host as ssh does: the port is shown if it is not the usual one. */
export const hostName = (hostname: string, port: number | undefined): string =>
  port === undefined || port === DEFAULT_PORT ? hostname : `[${hostname}]:${port}`

/** Run a program of OpenSSH and return the lines of its stdout. `given` are further arguments of `cmd.run_all`. */
async function runSsh(
  words: readonly string[],
  context: Context,
  given: { readonly stdin?: string; readonly ignore_retcode?: boolean } = {},
): Promise<string[]> {
  const [program = ''] = words
  if ((await which(program)) === null)
    throw new CommandNotFoundError(`The '${program}' binary was not found in $PATH.`)
  const cmd = [...words]
  const { stdout } = await context.call('cmd.run_all', {
    cmd,
    python_shell: false,
    stdin_raw_newlines: true,
    ...given,
  })
  return stdout === '' ? [] : stdout.split(/\r?\n/)
}

/** Refuse what would be an option, or more than one word of a line. @throws SaltInvocationError */
export function oneWord(name: string, text: string | undefined): void {
  if (text === undefined || /^[^\s-]\S*$/.test(text)) return
  throw new SaltInvocationError(
    `${name} must be one word that does not begin with a dash, not ${JSON.stringify(text)}`,
  )
}

/** Let ssh-keygen find a host in a file, which is read for it: the user may have placed a link there. */
async function find(file: HostsFile, name: string, context: Context): Promise<string[]> {
  oneWord('hostname', name)
  const text = await readText(file.path, file.user)
  if (!text) return []
  return runSsh(['ssh-keygen', '-F', name, '-f', '/dev/stdin'], context, {
    stdin: text,
    ignore_retcode: true,
  })
}

/** Find the entries of a host in a file, also in hashed lines. */
export async function entriesOf(
  file: HostsFile,
  hostname: string,
  port: number | undefined,
  hash: string | undefined,
  context: Context,
): Promise<HostEntry[]> {
  return readEntries(await find(file, hostName(hostname, port), context), hash)
}

/** Ask a host for its keys. The job gets the return code of ssh-keyscan. */
export async function scanHost(
  hostname: string,
  how: { enc?: string | undefined; port?: number | undefined; isHashed: boolean; timeout: number },
  hash: string | undefined,
  context: Context,
): Promise<HostEntry[]> {
  oneWord('hostname', hostname)
  oneWord('enc', how.enc)
  const words = [
    ...['ssh-keyscan', ...(how.port === undefined ? [] : ['-p', String(how.port)])],
    ...[...(how.enc === undefined ? [] : ['-t', how.enc]), ...(how.isHashed ? ['-H'] : [])],
    ...['-T', String(how.timeout), '--', hostname],
  ]
  return readEntries(await runSsh(words, context), hash)
}

function readEntries(lines: readonly string[], hash: string | undefined): HostEntry[] {
  return lines.flatMap((line) => {
    const [hostname, enc, key, ...more] = line.trim().split(/\s+/)
    if (!hostname || hostname.startsWith('#') || !enc || !key || more.length > 0) return []
    const fingerprint = fingerprintOf(key, hash)
    return fingerprint === undefined ? [] : [{ hostname, key, enc, fingerprint }]
  })
}

/**
 * Replace the entries of a host, those of one type of keys if `enc` is given, by others. Returns the numbers of the lines
 * that were replaced.
 */
export async function replaceEntries(
  file: HostsFile,
  hostname: string,
  port: number | undefined,
  enc: string | undefined,
  entries: readonly HostEntry[],
  context: Context,
): Promise<number[]> {
  const text = (await readText(file.path, file.user)) ?? ''
  const old = await linesOfHost(file, hostName(hostname, port), enc, context)
  if (old.size === 0 && entries.length === 0) return []
  const kept = text.split('\n').filter((_, at) => !old.has(at + 1))
  if (kept.at(-1) === '') kept.pop()
  const fresh = entries.map(({ hostname, enc, key }) => `${hostname} ${enc} ${key}`)
  const lines = [...kept, ...fresh].map((line) => `${line}\n`)
  await writeOwned(file.path, lines.join(''), file.user)
  return [...old]
}

/** Hash the names of hosts, as `ssh-keygen -H` does. Lines with markers or patterns stay. */
export async function hashNames({ path, user }: HostsFile): Promise<void> {
  const text = (await readText(path, user)) ?? ''
  const hashed = text.split('\n').flatMap((line) => {
    const [, names = '', rest = ''] = /^\s*([^\s#@|]\S*)(\s+\S.*)$/.exec(line) ?? []
    if (names === '' || /[*?!]/.test(names)) return [line]
    return names.split(',').map((name) => `${hashedName(name)}${rest}`)
  })
  await writeOwned(path, hashed.join('\n'), user)
}

function hashedName(name: string): string {
  const salt = randomBytes(20)
  const digest = createHmac('sha1', salt).update(name.toLowerCase()).digest('base64')
  return `|1|${salt.toString('base64')}|${digest}`
}

/** Return the numbers of the lines that are about a host. */
async function linesOfHost(
  file: HostsFile,
  name: string,
  enc: string | undefined,
  context: Context,
): Promise<Set<number>> {
  const found = new Set<number>()
  let number = 0
  for (const line of await find(file, name, context)) {
    const [, at] = /^#.*\bline (\d+)/.exec(line) ?? []
    if (at !== undefined) number = Number(at)
    else if (enc === undefined || line.split(/\s+/).at(-2) === enc) found.add(number)
  }
  return found
}

export const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false
