import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { importsFileVariable } from '../loader/resolve-hook.ts'

/** Knows which files of users the runs of a command import, and so which saved file calls for another run. */
export class ImportedFiles {
  readonly #folder: string
  readonly #file: string
  #imported: ReadonlySet<string> = new Set()
  /** Source files that started a run though none had imported them. */
  readonly #tried = new Set<string>()

  static async open(): Promise<ImportedFiles> {
    return new ImportedFiles(await mkdtemp(path.join(tmpdir(), 'salt-ts-imports-')))
  }

  private constructor(folder: string) {
    this.#folder = folder
    this.#file = path.join(folder, 'imports')
  }

  /** What a run needs in its environment to report here. */
  get env(): Record<string, string> {
    return { [importsFileVariable]: this.#file }
  }

  /** Forget the report of the run before; what it imported counts until the next run imports something. */
  async begin(): Promise<void> {
    await this.#read()
    await rm(this.#file, { force: true })
  }

  /**
   * The first of some saved files that calls for another run: one that was imported, or a source file that may be what
   * the run lacks. Such a file counts once, until a run imports it, so that a function may write source files without an
   * end; if the run failed and nothing was ever imported, it always counts.
   */
  async firstThatCounts(saved: readonly string[], runFailed: boolean): Promise<string | undefined> {
    await this.#read()
    for (const file of saved) if (this.#imported.has(await realPathOf(file))) return file
    const sources = saved.filter((file) => /\.[cm]?[jt]s$/.test(file))
    const isLost = runFailed && this.#imported.size === 0
    const first = sources.find((file) => isLost || !this.#tried.has(file))
    for (const file of sources) this.#tried.add(file)
    return first
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #read(): Promise<void> {
    const text = await readFile(this.#file, 'utf8').catch(() => '')
    const urls = text.split('\n').slice(0, -1) // the last line may not be whole
    if (urls.length === 0) return
    this.#imported = new Set(urls.map((url) => fileURLToPath(url)))
    for (const file of this.#imported) this.#tried.delete(file)
  }
}

/** The path under which Node imports a file; one that was deleted has the real path of its folder. */
async function realPathOf(file: string): Promise<string> {
  const folder = () => realpath(path.dirname(file)).catch(() => path.dirname(file))
  return realpath(file).catch(async () => path.join(await folder(), path.basename(file)))
}
