import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { importsFileVariable } from '../../loader/files/resolve-hook.ts'

/** Tracks which files of users a command imports, to decide which saved file causes another run. */
export class ImportedFiles {
  readonly #folder: string
  readonly #file: string
  #imported: ReadonlySet<string> = new Set()
  /** Source files that caused a run although none had imported them. */
  readonly #tried = new Set<string>()

  /** Files are listed in a temporary folder inside `parent`. */
  static async open(parent = tmpdir()): Promise<ImportedFiles> {
    return new ImportedFiles(await mkdtemp(path.join(parent, 'salt-ts-imports-')))
  }

  private constructor(folder: string) {
    this.#folder = folder
    this.#file = path.join(folder, 'imports')
  }

  /** Environment variables with which a run reports its imports here. */
  get env(): Record<string, string> {
    return { [importsFileVariable]: this.#file }
  }

  /** Begin a run. The imports of the previous run stay valid until this one imports something. */
  async begin(): Promise<void> {
    await this.#read()
    await rm(this.#file, { force: true })
  }

  /** Return the real paths of the files that the last run imported. */
  async paths(): Promise<ReadonlySet<string>> {
    await this.#read()
    return this.#imported
  }

  /**
   * Return the first saved file that causes another run: one that was imported, or a source file that the run may
   * lack. Such a source file counts once until a run imports it, so that a function that writes source files does not
   * cause endless runs. If the run failed and nothing was ever imported, it always counts.
   */
  async firstRelevant(saved: readonly string[], runFailed: boolean): Promise<string | undefined> {
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
    const urls = text.split('\n').slice(0, -1) // the last line may be incomplete
    if (urls.length === 0) return
    this.#imported = new Set(urls.map((url) => fileURLToPath(url)))
    for (const file of this.#imported) this.#tried.delete(file)
  }
}

/** Return the path under which Node imports a file; for a deleted file, that in the real path of its folder. */
export async function realPathOf(file: string): Promise<string> {
  const folder = () => realpath(path.dirname(file)).catch(() => path.dirname(file))
  return realpath(file).catch(async () => path.join(await folder(), path.basename(file)))
}
