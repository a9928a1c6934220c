import { chmodSync, closeSync, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/files/file-problem.ts'
import { MAX_SOCKET_PATH_BYTES } from './local-address.ts'

/** How long to wait for the holder's answer. */
const ANSWER_MS = 2_000

export interface DirectoryLock {
  /** Release the directory. */
  close(): Promise<void>
}

interface Settings {
  readonly directory: string
  readonly program: 'salt-master' | 'salt-minion' | 'salt-syndic'
  /** The id of a minion. */
  readonly id?: string
  /** Called if the lock cannot be created: the disk is full, or the file system has no sockets. */
  readonly onProblem: (sentence: string) => void
}

/**
 * Lock a directory for one daemon, since two would overwrite each other's files. The lock is a unix socket that names
 * its holder; it refuses connections once that process is gone, however it ended.
 * @throws SaltError ADDRESS_IN_USE, naming the holder
 */
export async function lockDirectory({ directory, program, id, onProblem }: Settings): Promise<DirectoryLock> {
  const who = id === undefined ? program : `${program} ${id}`
  const place = openPlace(directory, `.${program}.ipc`)
  try {
    const server = await listenAlone(place.path, `${who}, process ${process.pid},`, (holder) =>
      inUse(directory, who, holder || `another ${program}, which does not answer,`),
    )
    return {
      close: () =>
        new Promise((done) =>
          server.close(() => {
            place.close()
            done()
          }),
        ),
    }
  } catch (error) {
    place.close()
    if (SaltError.is(error)) throw error
    onProblem(
      `${who} cannot make the socket .${program}.ipc in ${directory}: ${fileProblem(error)}. It runs without this lock; make ` +
        `sure that no other ${program} uses that directory.`,
    )
    return { close: async () => {} }
  }
}

const inUse = (directory: string, who: string, holder: string) =>
  new SaltError(
    'ADDRESS_IN_USE',
    `${who} cannot use the directory ${directory}: ${holder} already does. Stop that one (a minion that is stopping waits ` +
      `for its jobs), or set 'cachedir' or 'root_dir' to another directory.`,
    { directory, holder },
  )

/** Return a socket path that is short enough, however long the directory's is. */
function openPlace(directory: string, name: string): { readonly path: string; close(): void } {
  const path = join(directory, name)
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { path, close() {} }
  const descriptor = openSync(directory, 'r')
  return { path: `/proc/self/fd/${descriptor}/${name}`, close: () => closeSync(descriptor) }
}

/** Listen on the path, or throw if it is held. The socket of a dead process is removed first. */
async function listenAlone(
  path: string,
  answer: string,
  refusal: (holder: string) => SaltError,
): Promise<Server> {
  for (;;) {
    const server = await listen(path, answer)
    if (server) return server
    const holder = await askHolder(path)
    if (holder !== undefined) throw refusal(holder)
    await unlink(path)
  }
}

/** Listen on a path. Resolves with undefined if the path exists. */
function listen(path: string, answer: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.end(answer, () => socket.destroy())
    }).unref()
    // Once it listens, an error concerns a connection that could not be accepted, and settles nothing.
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(path, () => {
      chmodSync(path, 0o600)
      resolve(server)
    })
  })
}

/** Ask the holder for its name: empty if it does not answer, undefined if it is gone. */
function askHolder(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(path)
    const end = (holder: string | undefined) => {
      socket.destroy()
      resolve(holder)
    }
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    socket.setTimeout(ANSWER_MS, () => end(''))
    socket.once('end', () => end(answer))
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      end(code === 'ECONNREFUSED' || code === 'ENOENT' ? undefined : ''),
    )
  })
}
