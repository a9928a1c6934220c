/** Makes the files and folders of a daemon that root starts for another user, and gives them to that user. */
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
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { makeFolders } from '../../base/files/directory.ts'
import { entriesBelow } from '../../base/files/entries-below.ts'
import type { Account } from './become-user.ts'

/** Options with paths; some exist only for masters. */
export interface DaemonPaths {
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

/** Names of log files of Salt's programs besides the configured ones. */
const KNOWN_LOGS = ['master', 'minion', 'api', 'key', 'audit.log', 'key-audit.log']

/**
 * Make the files and folders that a daemon writes, and give those to its user that are not that user's already.
 * @throws SaltError PERMISSIONS for a folder that root may not give away
 */
export function chownForDaemonUser(places: DaemonPaths, account: Account): void {
  const { user, pki_dir, cachedir, sock_dir, extension_modules, token_dir } = places
  for (const directory of [pki_dir, cachedir, sock_dir, extension_modules, token_dir])
    if (directory) handOverDirectory(directory, user, account)
  const logs = logsOf(places)
  const names = [...KNOWN_LOGS, ...logs.map((path) => basename(path))]
  for (const folder of foldersOf(logs)) handOverLogs(folder, names, account)
  for (const path of logs) handOverFile(path, 0o600, account)
  if (places.pidfile) handOverFile(places.pidfile, 0o644, account)
}

/**
 * Return a sentence for each log folder in which this process may not create files: it would have to after log
 * rotation.
 */
export function unwritableLogFolders(places: DaemonPaths): string[] {
  return foldersOf(logsOf(places))
    .filter((folder) => existsSync(folder) && !isWritable(folder))
    .map(
      (folder) =>
        `User ${places.user} (option user) may not create files in ${folder}: nothing more is logged there after ` +
        `log rotation. Give the folder to that user, or let the rotation create the new files for that user.`,
    )
}

/** List the log files: paths that are regular files, or do not exist yet. What cannot be seen is for its writer to report. */
function logsOf({ log_file, api_logfile, audit_log, key_audit_log }: DaemonPaths): string[] {
  return [log_file, api_logfile, audit_log, key_audit_log]
    .flatMap((path) => path || [])
    .filter((path) => !path.includes('://') && mayBeFile(path))
}

function mayBeFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true
  } catch {
    return false
  }
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
 * Give a folder that root owns to the user, with everything in it. A folder that the user owns stays as it is: the
 * user could have put links there for root to give away.
 */
function handOverDirectory(path: string, user: string, account: Account): void {
  makeDirectory(path)
  const owner = statSync(path).uid
  if (owner === account.uid) return
  if (owner !== 0 || isTopLevel(path)) {
    throw new SaltError(
      'PERMISSIONS',
      `The directory ${path} does not belong to user ${user} (option user). Its owner is changed automatically only if ` +
        `that is root and ${path} is not directly below /. ` +
        `Run: chown -R ${user} ${path}`,
      { path },
    )
  }
  giveAwayAll(path, account)
}

/** Whether the path is `/` or a folder directly below it, which are shared by everybody. */
const isTopLevel = (path: string): boolean => path.split('/').length < 3

/**
 * Give away everything below a path that root owns, but no files with further hard links. Symbolic links are not
 * followed.
 */
function giveAwayAll(path: string, { uid, gid }: Account): void {
  const paths = entriesBelow(path).map((entry) => join(entry.parentPath, entry.name))
  for (const below of [...paths, path]) {
    const stats = lstatSync(below)
    if (stats.uid === 0 && (stats.isDirectory() || stats.nlink === 1)) lchownSync(below, uid, gid)
  }
}

/** Make a private folder; missing parents get ordinary permissions. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return
  makeFolders(path, 0o755)
  chmodSync(path, 0o700)
}

/**
 * Give a log folder to the user if it holds nothing but logs, so that the user can create new ones after log
 * rotation.
 */
function handOverLogs(folder: string, names: readonly string[], account: Account): void {
  makeFolders(folder, 0o755)
  const isLog = (entry: string) => names.some((name) => entry.startsWith(name))
  if (statSync(folder).uid !== 0 || isTopLevel(folder)) return
  if (readdirSync(folder).every(isLog)) giveAwayAll(folder, account)
}

/**
 * Create a file for the user in a folder of root. In the user's own folder any name could be a link, so the user
 * creates the file. Errors are left for the daemon to report when it writes the file.
 */
function handOverFile(path: string, mode: number, { uid, gid }: Account): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number | undefined
  try {
    makeFolders(dirname(path), 0o755)
    if (statSync(dirname(path)).uid !== 0) return
    file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, mode)
    const found = fstatSync(file)
    if (found.isFile() && found.uid === 0 && found.nlink === 1) fchownSync(file, uid, gid)
  } catch {
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
