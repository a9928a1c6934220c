import path from 'node:path'
import { isBelow } from '../../base/files/open-inside.ts'
import { isTestFile } from '../authoring/run-tests.ts'
import { FolderWatch } from '../watch/folder-watch.ts'
import { type ImportedFiles, realPathOf } from '../watch/imported-files.ts'
import { packageOf } from '../watch/run-on-change.ts'

/** Saved files that concern functions or tests. */
export interface SavedSources {
  /** Files that functions are made of; paths relative to the folder. */
  readonly sources: readonly string[]
  /** Whether one of them collects grains. */
  readonly grains: boolean
  /** Whether tests, or what they test, were saved. */
  readonly tests: boolean
}

/** Editors write a file in several steps; a change is reported after this time without another. */
const QUIET_MS = 30

/** Reports saved files of an author: those in the folder, and those that they import. */
export class SourceWatch {
  readonly #folder: string
  readonly #watch: FolderWatch
  readonly #imported: ImportedFiles

  static async open(folder: string, imported: ImportedFiles): Promise<SourceWatch> {
    const watch = await FolderWatch.open([packageOf(folder)], { quietMs: QUIET_MS })
    return new SourceWatch(folder, watch, imported)
  }

  private constructor(folder: string, watch: FolderWatch, imported: ImportedFiles) {
    this.#folder = folder
    this.#watch = watch
    this.#imported = imported
  }

  /** Wait for the next saved files that matter. */
  async next(): Promise<SavedSources> {
    for (;;) {
      const saved = await this.#watch.next()
      const imported = await this.#imported.paths()
      const sources: string[] = []
      for (const file of saved) if (await this.#isSource(file, imported)) sources.push(this.#shown(file))
      const tests = sources.length > 0 || saved.some(isTestFile)
      if (tests) return { sources, tests, grains: sources.some((file) => /(^|\/)_?grains\//.test(file)) }
    }
  }

  /** Also watch the folders of imported files that are elsewhere. */
  async follow(): Promise<void> {
    const root = packageOf(this.#folder)
    for (const file of await this.#imported.paths())
      if (!isBelow(file, root)) this.#watch.add(path.dirname(file))
  }

  close(): void {
    this.#watch.close()
  }

  async #isSource(file: string, imported: ReadonlySet<string>): Promise<boolean> {
    if (isTestFile(file) || /\.d\.[cm]?ts$/.test(file)) return false
    if (imported.has(await realPathOf(file))) return true
    return isBelow(file, this.#folder) && /\.[cm]?[jt]s$/.test(file)
  }

  #shown(file: string): string {
    return path.relative(this.#folder, file)
  }
}
