/** What root prepares for a daemon that is to run as another user: everything that one will write. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { entriesBelow } from '../base/entries-below.ts'
import { SaltError } from '../base/errors.ts'
import type { Account } from './become-user.ts'

/** Options of daemons; some have only those of masters. */
export interface Places {
  readonly user: string
  readonly pki_dir: string
  readonly cachedir: string
  readonly sock_dir: string
  readonly extension_modules: string
  readonly token_dir?: string | undefined
  readonly pidfile: string
  readonly log_file: string
  readonly api_logfile?: string
  readonly audit_log?: string
  readonly key_audit_log?: string
}

/** Files of Salt's in a folder of logs, beside those of the configuration: what its other programs write. */
const KNOWN_LOGS = ['master', 'minion', 'api', 'key', 'audit.log', 'key-audit.log']

/**
 * Make what a daemon writes and give it to its user, as far as it is not that user's already.
 * @throws SaltError PERMISSIONS for a directory that the user cannot be given
 */
export function handOver(places: Places, account: Account): void {
  const { user, pki_dir, cachedir, sock_dir, extension_modules, token_dir } = places
  for (const directory of [pki_dir, cachedir, sock_dir, extension_modules, token_dir])
    if (directory) handOverDirectory(directory, user, account)
  const logs = logsOf(places)
  const names = [...KNOWN_LOGS, ...logs.map((path) => basename(path))]
  for (const folder of foldersOf(logs)) handOverLogs(folder, names, account)
  for (const path of logs) handOverFile(path, 0o600, account)
  if (places.pidfile) handOverFile(places.pidfile, 0o644, account)
}

/** A sentence for each folder of logs in which this process cannot make files: after logs are rotated it would have to. */
export function unwritableLogFolders(places: Places): string[] {
  return foldersOf(logsOf(places))
    .filter((folder) => existsSync(folder) && !isWritable(folder))
    .map(
      (folder) =>
        `User ${places.user} (option user) may not make files in ${folder}: once logs there are rotated away, nothing more is ` +
        `logged. Give the folder to that user, or have what rotates logs make the new ones for that user.`,
    )
}

/** Files, as far as they are there yet. */
function logsOf({ log_file, api_logfile, audit_log, key_audit_log }: Places): string[] {
  return [log_file, api_logfile, audit_log, key_audit_log]
    .flatMap((path) => path || [])
    .filter((path) => !path.includes('://') && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? true))
}

const foldersOf = (files: readonly string[]): string[] => [...new Set(files.map((path) => dirname(path)))]

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * A directory that root has used before goes over with all that is in it. Of one that is the user's already nothing is
 * changed: there the user could have put anything, for root to give away.
 */
function handOverDirectory(path: string, user: string, account: Account): void {
  makeDirectory(path)
  const owner = statSync(path).uid
  if (owner === account.uid) return
  if (owner !== 0 || isTopLevel(path)) {
    throw new SaltError(
      'PERMISSIONS',
      `The directory ${path} does not belong to user ${user} (option user), nor to root, who could give it away. ` +
        `Run: chown -R ${user} ${path}`,
      { path },
    )
  }
  giveAwayAll(path, account)
}

/** `/var`, and `/` itself, are everybody's. */
const isTopLevel = (path: string): boolean => path.split('/').length < 3

/** Not what belongs to others already, what has a second name elsewhere, nor what links lead to. */
function giveAwayAll(path: string, { uid, gid }: Account): void {
  const paths = entriesBelow(path).map((entry) => join(entry.parentPath, entry.name))
  for (const below of [...paths, path]) {
    const stats = lstatSync(below)
    if (stats.uid === 0 && (stats.isDirectory() || stats.nlink === 1)) lchownSync(below, uid, gid)
  }
}

/** As `mkdir -p`: those above are ordinary ones. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return
  mkdirSync(path, { recursive: true, mode: 0o755 })
  chmodSync(path, 0o700)
}

/**
 * A folder of logs goes over if there is nothing else in it: after logs were rotated away the user makes new ones.
 */
function handOverLogs(folder: string, names: readonly string[], account: Account): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const isLog = (entry: string) => names.some((name) => entry.startsWith(name))
  if (statSync(folder).uid !== 0 || isTopLevel(folder)) return
  if (readdirSync(folder).every(isLog)) giveAwayAll(folder, account)
}

/**
 * A file is made where the user could not; in the user's own folder, where any name could be a link, the user makes it. What
 * cannot be made is told by the daemon when it is to write it.
 */
function handOverFile(path: string, mode: number, { uid, gid }: Account): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants
  let file: number | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
    if (statSync(dirname(path)).uid !== 0) return
    file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode)
    const found = fstatSync(file)
    if (found.isFile() && found.uid === 0 && found.nlink === 1) fchownSync(file, uid, gid)
  } catch {
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
