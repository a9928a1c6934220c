import { isAbsolute, join, resolve, sep } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { expandGlob } from './glob.ts'
import type { OptionTable } from './option.ts'

/** Longest path in the address of a Unix socket, without its final NUL. */
const MAX_SOCKET_PATH = 107
/** Length of the longest socket name in `sock_dir` (wire protocol §11), with the separator. */
const SOCKET_NAME = '/minion_event_0123456789_pull.ipc'.length

interface Directories {
  readonly root_dir: string
  readonly cachedir: string
  readonly sock_dir: string
  readonly extension_modules: string
  readonly ipc_mode: string
  readonly file_roots: FileRoots
}

type FileRoots = Readonly<Record<string, readonly string[]>>

/** Make the path options of a role absolute and prepend `root_dir`, as Salt does, so that both use the same paths. */
export function compilePaths<T extends Directories>(options: T, table: OptionTable): T {
  const rootDir = resolve(options.root_dir)
  const placed = {
    ...options,
    sock_dir: socketDirectory(options),
    extension_modules: options.extension_modules || join(options.cachedir, 'extmods'),
  }
  const rooted = Object.entries(placed).map(([key, value]) => [
    key,
    table[key]?.path && typeof value === 'string' ? under(rootDir, value) : value,
  ])
  const file_roots = expandRoots(options.file_roots)
  const compiled = { ...(Object.fromEntries(rooted) as T), root_dir: rootDir, file_roots }
  if (compiled.ipc_mode === 'ipc') checkSocketDirectory(compiled.sock_dir)
  return compiled
}

/** Return the directory of the sockets. As in Salt, they move into the cachedir if sock_dir is much longer. */
function socketDirectory({ sock_dir, cachedir }: Directories): string {
  return sock_dir.length > cachedir.length + 10 ? join(cachedir, '.salt-unix') : sock_dir
}

/** Prepend `root_dir`, except to addresses of log servers (`udp://…`), paths already inside it, and empty paths. */
function under(rootDir: string, path: string): string {
  if (path === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return path
  const inside = path === rootDir || path.startsWith(rootDir.endsWith(sep) ? rootDir : rootDir + sep)
  return inside ? resolve(path) : join(rootDir, path)
}

function checkSocketDirectory(path: string): void {
  const excess = Buffer.byteLength(path) + SOCKET_NAME - MAX_SOCKET_PATH
  if (excess <= 0) return
  throw new SaltError(
    'CONFIG_INVALID',
    `The option sock_dir is too long by ${excess} bytes: ${path}. The system allows ${MAX_SOCKET_PATH} bytes for the ` +
      'path of a unix socket. Choose a shorter sock_dir or root_dir, or set ipc_mode: tcp.',
    { key: 'sock_dir', reason: `too long by ${excess} bytes` },
  )
}

/**
 * Expand file_roots as Salt does: `root_dir` is not prepended, patterns stand for the directories that match when the daemon starts,
 * and an environment may be empty or a single directory.
 * @throws SaltError CONFIG_INVALID for a relative directory, which would depend on the daemon's working directory
 */
function expandRoots(roots: Readonly<Record<string, unknown>>): FileRoots {
  const expanded = Object.entries(roots).map(([saltenv, value]) => [
    saltenv,
    (value === null ? [] : [value].flat()).flatMap((root) => expandRoot(saltenv, String(root))),
  ])
  return Object.fromEntries(expanded)
}

function expandRoot(saltenv: string, root: string): string[] {
  if (isAbsolute(root)) return /[*?[]/.test(root) ? expandGlob(root) : [resolve(root)]
  throw new SaltError(
    'CONFIG_INVALID',
    `The option file_roots has a directory for ${saltenv} that is not absolute: ${root}. Use an absolute path.`,
    { key: 'file_roots', reason: 'not absolute' },
  )
}
