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
import { messageOf, SaltError } from '../base/errors.ts'
import { writeFileAtomic } from '../base/files/atomic-file.ts'
import { openLoader } from '../loader/index.ts'
import { candidatePaths } from './candidate-paths.ts'

/** The options that the file server uses. */
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

/** Backends of Salt that salt-ts does not have, unless a user's plugin has the name. */
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

/**
 * The backends of `fileserver_backend`, merged into one tree for each environment. If several have a path, the first one wins.
 */
export class FileServer {
  readonly #sources: ReadonlyMap<string, FileSource>
  readonly #marker: string
  #marked: number | undefined

  /**
   * Open all backends. If one cannot be opened, that is logged and requests that need it are refused. A backend that only Python
   * Salt has is skipped if there are others.
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
          `The backend ${name} of fileserver_backend is not built into salt-ts: its files are not served; those of other backends are.`,
        )
        continue
      }
      try {
        const backend = await loader.plugin<FileServerBackend>(name)
        sources.set(name, await backend.open({ opts: config, log }))
      } catch (error) {
        const reason = `The file server cannot open its backend ${name}: ${messageOf(error)}`
        log.error(
          `Requests for files are refused until this is fixed or the backend is removed from fileserver_backend. ${reason}`,
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

  /** Return the environments of each backend. */
  async envs(backends?: readonly string[]): Promise<Record<string, readonly string[]>> {
    const found = this.#chosen(backends).map(async ([name, source]) => [name, await source.envs()] as const)
    return Object.fromEntries(await Promise.all(found))
  }

  /** List everything in an environment, sorted. */
  async list(saltenv: string, backends?: readonly string[]): Promise<FileLists> {
    await this.#forgetIfMarked()
    return mergeLists(await Promise.all(this.#chosen(backends).map(([, source]) => source.list(saltenv))))
  }

  /** Find and open a file by the path that a peer sent. The caller closes it. */
  async find(text: unknown, saltenv: unknown): Promise<FoundFile | undefined> {
    for (const candidate of candidatePaths(text, saltenv)) {
      for (const [back, source] of this.#sources) {
        const file = await source.open(candidate.path, candidate.saltenv)
        if (file) return { file, path: candidate.path, back }
      }
    }
    return undefined
  }

  /**
   * Let every file server of this host, in all processes, read its directories again. Resolves with the affected environments.
   */
  async clearListCache(
    saltenv?: readonly string[],
    backends?: readonly string[],
  ): Promise<Record<string, readonly string[]>> {
    const concerned: Record<string, readonly string[]> = {}
    for (const [name, envs] of Object.entries(await this.envs(backends))) {
      const candidate = saltenv ? envs.filter((env) => saltenv.includes(env)) : envs
      if (candidate.length > 0) concerned[name] = candidate
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

  async #forgetIfMarked(): Promise<void> {
    const facts = await stat(this.#marker).catch(() => undefined)
    if (facts?.mtimeMs === this.#marked) return
    this.#marked = facts?.mtimeMs
    for (const source of this.#sources.values()) source.forget?.()
  }
}

/** Make a source that rejects. Its lists must not look complete, since minions remove files that a list lacks. */
function brokenSource(error: SaltError): FileSource {
  const refuse = () => Promise.reject(error)
  return { envs: () => [], open: refuse, list: refuse }
}
