import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { SaltError } from '../base/errors.ts'

/** Limit of a configuration file, which bounds the cost of parsing. No real configuration is this long. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Read a configuration file that nobody else can have written: a regular file that belongs to root, the user of this process or
 * `alsoTrusted`, and that neither group nor others can write. Undefined if there is none.
 *
 * @throws SaltError PERMISSIONS, CONFIG_INVALID
 */
export function readTrusted(path: string, alsoTrusted?: string): string | undefined {
  const file = open(path)
  if (file === undefined) return undefined
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw unreadable(path, 'it is not a regular file')
    if (stats.size > MAX_BYTES) throw unreadable(path, `it is larger than ${MAX_BYTES} bytes`)
    checkTrusted(path, stats, alsoTrusted)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Check a directory with configuration files by the same rule. */
export function checkDirectory(path: string, alsoTrusted?: string): void {
  const stats = ifExists(path, () => statSync(path))
  if (stats) checkTrusted(path, stats, alsoTrusted)
}

/** Open a file. O_NONBLOCK keeps this from waiting for a writer if it is a named pipe. */
function open(path: string): number | undefined {
  return ifExists(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
}

function ifExists<T>(path: string, look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code !== 'EACCES') throw unreadable(path, message)
    throw new SaltError(
      'PERMISSIONS',
      `You are not allowed to read the configuration ${path}. Run the command as its owner, or as root.`,
      { path },
    )
  }
}

function checkTrusted(path: string, { uid, mode }: Stats, alsoTrusted: string | undefined): void {
  if (process.env.SALT_TS_INSECURE_CONFIG === '1') return
  if (!isTrustedOwner(uid, alsoTrusted)) {
    throw insecure(path, `belongs to another user (uid ${uid})`, `chown ${process.geteuid?.() ?? 0} ${path}`)
  }
  if ((mode & 0o022) !== 0) {
    throw insecure(
      path,
      `can be changed by other users (mode ${(mode & 0o777).toString(8)})`,
      `chmod go-w ${path}`,
    )
  }
}

function isTrustedOwner(uid: number, alsoTrusted: string | undefined): boolean {
  if (uid === 0 || uid === process.geteuid?.()) return true
  return alsoTrusted !== undefined && uid === uidOf(alsoTrusted)
}

function uidOf(user: string): number | undefined {
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n')
  const account = accounts.find((line) => line.startsWith(`${user}:`))
  return account === undefined ? undefined : Number(account.split(':')[2])
}

function insecure(path: string, what: string, remedy: string): SaltError {
  return new SaltError(
    'PERMISSIONS',
    `The configuration ${path} ${what}, who could use it to take over this host. ` +
      `Run "${remedy}", or set SALT_TS_INSECURE_CONFIG=1 to continue anyway.`,
    { path },
  )
}

function unreadable(path: string, reason: string): SaltError {
  return new SaltError('CONFIG_INVALID', `The configuration file ${path} cannot be read: ${reason}.`, {
    file: path,
    reason,
  })
}
