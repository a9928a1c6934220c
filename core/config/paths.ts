import { isAbsolute, join, resolve, sep } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { expandGlob } from './glob.ts'
import type { OptionTable } from './option.ts'

/** What the address of a unix socket holds, less its end. */
const MAX_SOCKET_PATH = 107
/** The longest name of a socket in `sock_dir` (wire protocol §11), with the separator. */
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

/** The options of a role that are paths, absolute and under `root_dir`, as Salt makes them so that both agree. */
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

/** Salt moves the sockets into the cache where their own directory has a much longer name. */
function socketDirectory({ sock_dir, cachedir }: Directories): string {
  return sock_dir.length > cachedir.length + 10 ? join(cachedir, '.salt-unix') : sock_dir
}

/** Log files may be addresses (`udp://…`); what is inside the root already stays; nothing stays nothing. */
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
 * As Salt has them: `root_dir` does not concern them, a pattern stands for what there is of it when the daemon starts,
 * an environment may be empty or have one directory.
 * @throws SaltError CONFIG_INVALID for one that is not absolute: it would depend on where the daemon is started
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
    `The option file_roots has a directory for ${saltenv} that is not absolute: ${root}. Give its whole path.`,
    { key: 'file_roots', reason: 'not absolute' },
  )
}
