import { lstat, stat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { findSocketHolder, nameOfHolder } from './port-holder.ts'

/**
 * Address for processes of one host: the path of a unix socket (optionally prefixed with `ipc://`), or
 * `tcp://host:port`.
 */
export type LocalAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Longest path of a unix socket in bytes: `sun_path` without its final NUL. */
export const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** Parse an address. @throws SaltError CONFIG_INVALID if its path is too long for a socket */
export function parseLocalAddress(text: string): LocalAddress {
  const tcp = /^tcp:\/\/(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text)
  if (tcp?.[1] && tcp[2]) return { host: tcp[1].replace(/^\[|\]$/g, ''), port: Number(tcp[2]) }
  const path = text.replace(/^ipc:\/\//, '')
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    throw new SaltError(
      'CONFIG_INVALID',
      `The socket path ${path} has more than ${MAX_SOCKET_PATH_BYTES} bytes; set 'sock_dir' to a shorter path.`,
      { path },
    )
  }
  return { path }
}

/**
 * Prepare a path for a new unix socket: remove a socket that nobody listens on.
 * @throws SaltError ADDRESS_IN_USE if a process listens there, CONFIG_INVALID if the path is not a socket or its
 * directory is missing
 */
export async function claimSocketPath(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (!found) return requireDirectory(path)
  if (!found.isSocket()) {
    throw new SaltError('CONFIG_INVALID', `${path} must be a socket, but is something else; remove it.`, {
      path,
    })
  }
  if (await isListening(path)) {
    const holder = await findSocketHolder(path)
    throw new SaltError(
      'ADDRESS_IN_USE',
      `Cannot listen on ${path}: ${nameOfHolder(holder)} already does. Stop it, or set 'sock_dir' to another directory.`,
      { path, ...holder },
    )
  }
  await unlink(path).catch(() => undefined)
}

async function requireDirectory(path: string): Promise<void> {
  const found = await stat(dirname(path)).catch((error: NodeJS.ErrnoException) => error)
  if (!(found instanceof Error) || found.code !== 'ENOENT') return
  throw new SaltError(
    'CONFIG_INVALID',
    `The directory of the socket ${path} does not exist; create it, or set 'sock_dir'.`,
    {
      path,
    },
  )
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path)
    const end = (answer: boolean) => {
      probe.destroy()
      resolve(answer)
    }
    probe.once('connect', () => end(true))
    probe.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'EAGAIN'))
  })
}
