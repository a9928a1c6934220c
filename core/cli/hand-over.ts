/** What root prepares for a daemon that is to run as another user. */
import {
  chmodSync,
  closeSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import type { Account } from './become-user.ts'

interface Places {
  readonly user: string
  readonly pki_dir: string
  readonly cachedir: string
  readonly sock_dir: string
  readonly log_file: string
}

/** Make what a daemon writes and give it to its user, as far as it is not that user's already. */
export function handOver(places: Places, account: Account): void {
  for (const directory of [places.pki_dir, places.cachedir, places.sock_dir]) {
    handOverDirectory(directory, places.user, account)
  }
  if (!places.log_file.includes('://') && places.log_file !== '') handOverLog(places.log_file, account)
}

/**
 * A directory that root has used before goes over with all that is in it. Of one that is the user's already nothing is
 * changed: there the user could have put anything, for root to give away.
 */
function handOverDirectory(path: string, user: string, { uid, gid }: Account): void {
  makeDirectory(path)
  const owner = statSync(path).uid
  if (owner === uid) return
  if (owner !== 0 || path.split('/').length < 3) {
    throw new SaltError(
      'PERMISSIONS',
      `The directory ${path} does not belong to user ${user} (option user), nor to root, who could give it away. ` +
        `Run: chown -R ${user} ${path}`,
      { path },
    )
  }
  for (const entry of readdirSync(path, { recursive: true })) giveAway(join(path, String(entry)), uid, gid)
  lchownSync(path, uid, gid)
}

/** Not what has a second name elsewhere. */
function giveAway(path: string, uid: number, gid: number): void {
  const { uid: owner, nlink } = lstatSync(path)
  const isDirectory = lstatSync(path).isDirectory()
  if (owner === 0 && (isDirectory || nlink === 1)) lchownSync(path, uid, gid)
}

/** As `mkdir -p`: those above are ordinary ones. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return
  mkdirSync(path, { recursive: true, mode: 0o755 })
  chmodSync(path, 0o700)
}

function handOverLog(path: string, { uid, gid }: Account): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  const file = openSync(path, 'a', 0o640)
  fchownSync(file, uid, gid)
  closeSync(file)
}
