import { type FileLists, type FileSource, fileServerBackend, type SafePath } from 'salt-ts'
import { mergeLists, openInside } from '#internal'
import { type Environments, openEnvironments } from './_roots/environments.ts'
import { type Ignored, openIgnored } from './_roots/ignored.ts'
import { Tree } from './_roots/tree.ts'

const MAX_TREES = 64

/**
 * Serves files from directories of this host (`file_roots`); the first directory that has a file wins. Links are followed if
 * they stay within the roots or `fileserver_linked_dirs`; with `fileserver_followsymlinks: false`, within their own root.
 */
class Roots implements FileSource {
  readonly #environments: Environments
  readonly #ignored: Ignored
  readonly #links: { readonly follow: boolean; readonly ignore: boolean }
  readonly #trees = new Map<string, Tree>()

  constructor(opts: Readonly<Record<string, unknown>>) {
    this.#environments = openEnvironments(opts)
    this.#ignored = openIgnored(opts)
    this.#links = {
      follow: opts.fileserver_followsymlinks !== false,
      ignore: opts.fileserver_ignoresymlinks === true,
    }
  }

  envs(): readonly string[] {
    return this.#environments.names
  }

  async open(path: SafePath, saltenv: string) {
    const served = await this.#served()
    for (const root of await this.#environments.realRoots(saltenv)) {
      const full = `${root}/${path}`
      if (this.#ignored(path) || this.#ignored(full)) continue
      const found = await openInside(full, this.#links.follow ? [root, ...served] : [root])
      if (found) return found
    }
    return undefined
  }

  async list(saltenv: string): Promise<FileLists> {
    const served = await this.#served()
    const roots = await this.#environments.realRoots(saltenv)
    return mergeLists(await Promise.all(roots.map((root) => this.#tree(root).list([root, ...served]))))
  }

  forget(): void {
    this.#trees.clear()
  }

  /** Directories that links may lead to, as real paths. */
  #served(): Promise<readonly string[]> {
    return this.#links.follow ? this.#environments.allRealRoots() : Promise.resolve([])
  }

  #tree(root: string): Tree {
    const known = this.#trees.get(root)
    if (known) return known
    const made = new Tree(root, { links: this.#links, ignored: this.#ignored })
    if (this.#trees.size >= MAX_TREES) this.#trees.clear()
    this.#trees.set(root, made)
    return made
  }
}

export default fileServerBackend({ open: ({ opts }) => new Roots(opts) })
