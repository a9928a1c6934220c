import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../author/context.ts'
import {
  type FileLists,
  type FileServerBackend,
  type FileSource,
  mergeLists,
  type ServedFile,
} from '../author/files.ts'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { openLoader } from '../loader/index.ts'
import { pathsMeant } from './paths-meant.ts'

/** What the file server needs of a configuration. */
export interface FileServerConfig extends Readonly<Record<string, unknown>> {
  readonly fileserver_backend: readonly string[]
  readonly cachedir: string
  readonly file_buffer_size: number
  readonly hash_type: string
}

export interface FoundFile {
  readonly file: ServedFile
  /** Relative to the roots. */
  readonly path: string
  /** Name of the backend. */
  readonly back: string
}

/** Salt's backends that are not here, unless a plugin of the user has the name. */
const ONLY_IN_SALT: ReadonlySet<string> = new Set([
  'azurefs',
  'git',
  'gitfs',
  'hg',
  'hgfs',
  'minion',
  'minionfs',
  's3fs',
  'svn',
  'svnfs',
])

/** The backends of `fileserver_backend` as one tree of files for each environment; of one path the first backend wins. */
export class FileServer {
  readonly #sources: ReadonlyMap<string, FileSource>
  readonly #marker: string
  #marked: number | undefined

  /**
   * A backend that cannot be opened is logged, and so is refused whatever would need it; one that only Python Salt has is
   * left out where there is another.
   */
  static async open(config: FileServerConfig, log: Log): Promise<FileServer> {
    const loader = openLoader('fileserver', { config, log })
    const sources = new Map<string, FileSource>()
    const known = await loader.pluginNames()
    const isAbsent = (name: string) => ONLY_IN_SALT.has(name) && !known.includes(name)
    const allAbsent = config.fileserver_backend.every(isAbsent)
    for (const name of config.fileserver_backend) {
      if (!allAbsent && isAbsent(name)) {
        log.error(
          `${name} of fileserver_backend is not built into salt-ts: its files are not served, others are.`,
        )
        continue
      }
      try {
        const backend = await loader.plugin<FileServerBackend>(name)
        sources.set(name, await backend.open({ opts: config, log }))
      } catch (error) {
        const reason = `The file server cannot open its backend ${name}: ${messageOf(error)}`
        log.error(
          `What needs files is refused until that is repaired, or fileserver_backend lacks it. ${reason}`,
        )
        const unusable = new SaltError('MODULE_FAILED', reason)
        sources.set(name, brokenSource(unusable))
      }
    }
    return new FileServer(sources, join(config.cachedir, '.file_lists_cleared'))
  }

  private constructor(sources: ReadonlyMap<string, FileSource>, marker: string) {
    this.#sources = sources
    this.#marker = marker
  }

  /** Backend → its environments. */
  async envs(backends?: readonly string[]): Promise<Record<string, readonly string[]>> {
    const found = this.#chosen(backends).map(async ([name, source]) => [name, await source.envs()] as const)
    return Object.fromEntries(await Promise.all(found))
  }

  /** Everything in an environment, sorted. */
  async list(saltenv: string, backends?: readonly string[]): Promise<FileLists> {
    await this.#forgetIfTold()
    return mergeLists(await Promise.all(this.#chosen(backends).map(([, source]) => source.list(saltenv))))
  }

  /** A file by what a peer wrote, open; the caller closes it. */
  async find(text: unknown, saltenv: unknown): Promise<FoundFile | undefined> {
    for (const meant of pathsMeant(text, saltenv)) {
      for (const [back, source] of this.#sources) {
        const file = await source.open(meant.path, meant.saltenv)
        if (file) return { file, path: meant.path, back }
      }
    }
    return undefined
  }

  /** Every file server of this host reads its folders anew, in whatever process. Gives what that concerns. */
  async clearListCache(
    saltenv?: readonly string[],
    backends?: readonly string[],
  ): Promise<Record<string, readonly string[]>> {
    const concerned: Record<string, readonly string[]> = {}
    for (const [name, envs] of Object.entries(await this.envs(backends))) {
      const meant = saltenv ? envs.filter((env) => saltenv.includes(env)) : envs
      if (meant.length > 0) concerned[name] = meant
    }
    if (Object.keys(concerned).length === 0) return {}
    await writeFileAtomic(this.#marker, '')
    return concerned
  }

  #chosen(backends?: readonly string[]): [string, FileSource][] {
    const all = [...this.#sources]
    if (!backends?.length) return all
    if (backends.every((name) => name.startsWith('-')))
      return all.filter(([name]) => !backends.includes(`-${name}`))
    return all.filter(([name]) => backends.includes(name))
  }

  async #forgetIfTold(): Promise<void> {
    const facts = await stat(this.#marker).catch(() => undefined)
    if (facts?.mtimeMs === this.#marked) return
    this.#marked = facts?.mtimeMs
    for (const source of this.#sources.values()) source.forget?.()
  }
}

/** Minions remove what a list lacks: a list without this backend must not look complete. */
function brokenSource(error: SaltError): FileSource {
  const refuse = () => Promise.reject(error)
  return { envs: () => [], open: refuse, list: refuse }
}
