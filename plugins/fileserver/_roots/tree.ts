import { CommandExecutionError, type FileLists } from 'salt-ts'
import { mapConcurrently } from '#internal'
import { type Folder, readFolder } from './folder.ts'
import type { Ignored } from './ignored.ts'
import { type Link, resolveLink } from './link.ts'

export interface TreeSettings {
  readonly links: { readonly follow: boolean; readonly ignore: boolean }
  readonly ignored: Ignored
}

/** A directory to visit. */
interface Visit {
  /** Relative to the root; '' for the root. */
  readonly path: string
  /** Ids of the directories above it, to detect circular links. */
  readonly above: readonly string[]
}

interface Visited extends Visit {
  readonly folder: Folder
  readonly links: readonly Link[]
}

/** Directories read at once. */
const CONCURRENCY = 16

/**
 * The files below one root. Each list shows the files at the time of the request: the times of a directory show whether its entries have
 * changed, and only changed directories are read again.
 */
export class Tree {
  readonly #root: string
  readonly #settings: TreeSettings
  #known = new Map<string, Folder>()
  #shown: { readonly of: string; readonly lists: FileLists } | undefined
  #running: Promise<FileLists> | undefined
  #next: Promise<FileLists> | undefined

  constructor(root: string, settings: TreeSettings) {
    this.#root = root
    this.#settings = settings
  }

  /** List the files. Requests during a walk share one next walk, because the current one may have missed recent changes. */
  list(within: readonly string[]): Promise<FileLists> {
    if (!this.#running) {
      this.#running = this.#walk(within).finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.list(within)
      })
    return this.#next
  }

  async #walk(within: readonly string[]): Promise<FileLists> {
    const visited: Visited[] = []
    for (let level: Visit[] = [{ path: '', above: [] }]; level.length > 0; ) {
      const found = await mapConcurrently(level, (visit) => this.#visit(visit, within), CONCURRENCY)
      const here = found.filter((one) => one !== undefined)
      visited.push(...here)
      level = here.flatMap((one) => this.#below(one))
    }
    this.#known = new Map(visited.map(({ path, folder }) => [path, folder]))
    return this.#listsOf(visited)
  }

  async #visit(visit: Visit, within: readonly string[]): Promise<Visited | undefined> {
    const place = visit.path ? `${this.#root}/${visit.path}` : this.#root
    const folder = await readFolder(place, within, this.#known.get(visit.path)).catch((error: Error) =>
      this.#unread(visit.path, place, error),
    )
    if (!folder || visit.above.includes(folder.id)) return undefined
    const links = this.#settings.links.ignore
      ? []
      : await mapConcurrently(
          folder.links,
          (link) => resolveLink(place, link, this.#root, within),
          CONCURRENCY,
        )
    return { ...visit, folder, links }
  }

  /** Throw for a directory that cannot be read, unless it is ignored. */
  #unread(path: string, place: string, error: Error): undefined {
    if (path !== '' && this.#settings.ignored(path)) return undefined
    throw new CommandExecutionError(
      `The file server cannot list ${place}: ${error.message}. Let the master's user read it, or name it in file_ignore_glob.`,
    )
  }

  #below({ path, above, folder, links }: Visited): Visit[] {
    const linked = this.#settings.links.follow ? links.filter(({ leadsTo }) => leadsTo === 'directory') : []
    const inside = [...above, folder.id]
    return [...folder.folders, ...linked.map(({ name }) => name)].map((name) => ({
      path: under(path, name),
      above: inside,
    }))
  }

  /** Return the previous lists if nothing has changed: they are long, and requested often. */
  #listsOf(visited: readonly Visited[]): FileLists {
    const of = visited
      .map(({ path, folder, links }) => `${path}\0${folder.stamp}\0${links.map(({ leadsTo }) => leadsTo)}`)
      .join('\n')
    if (this.#shown?.of === of && visited.every(({ folder }) => folder.settled)) return this.#shown.lists
    const lists = makeLists(visited, this.#settings)
    this.#shown = { of, lists }
    return lists
  }
}

function makeLists(visited: readonly Visited[], { ignored, links: { follow } }: TreeSettings): FileLists {
  const files: string[] = []
  const dirs: string[] = []
  const emptyDirs: string[] = []
  const shown: [string, string][] = []
  for (const { path, folder, links } of visited) {
    if (path !== '') dirs.push(path)
    if (path !== '' && folder.isEmpty) emptyDirs.push(path)
    files.push(...folder.files.map((name) => under(path, name)))
    for (const { name, target, leadsTo, staysInside } of links) {
      if (leadsTo === 'file') files.push(under(path, name))
      else if (leadsTo === 'directory' && !follow) dirs.push(under(path, name))
      if (staysInside || !follow) shown.push([under(path, name), target])
    }
  }
  const kept = (paths: string[]) => paths.filter((path) => !ignored(path)).sort()
  const links = Object.fromEntries(shown.filter(([path]) => !ignored(path)))
  return { files: kept(files), dirs: kept(dirs), emptyDirs: kept(emptyDirs), links }
}

const under = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name)
