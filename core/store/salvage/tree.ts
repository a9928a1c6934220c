import { closeSync, fstatSync, openSync } from 'node:fs'
import { hasValidChecksum } from '../record.ts'
import {
  freePages,
  type Leaf,
  largePages,
  type Meta,
  readMeta,
  readPage,
  type Tree,
  valueAt,
} from './pages.ts'

/** The size of a page, in bytes, if no meta page can be read. */
const USUAL_PAGE = 4096
const MAX_LEVELS = 30

interface Walk {
  readonly damaged: (page: number) => void
  readonly visited: Set<number>
}

/** An LMDB file, read page by page without LMDB. */
export class StoreFile {
  readonly #file: number
  readonly #metas: readonly [first: Meta | undefined, second: Meta | undefined]
  /** The newer meta page. */
  readonly #meta: Meta | undefined
  readonly #pageSize: number
  readonly #pages: number

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    const first = readMeta(this.#file, 0)
    const second = readMeta(this.#file, first?.pageSize ?? USUAL_PAGE)
    this.#metas = [first, second]
    this.#meta = (second?.txn ?? -1) > (first?.txn ?? -1) ? second : first
    this.#pageSize = this.#meta?.pageSize ?? USUAL_PAGE
    this.#pages = Math.floor(fstatSync(this.#file).size / this.#pageSize)
  }

  close(): void {
    closeSync(this.#file)
  }

  /** The number of records by the meta page; undefined if none can be read. */
  get entries(): number | undefined {
    return this.#meta?.main.entries
  }

  /** Return which meta page is invalid; undefined if both are valid. */
  headDamage(): string | undefined {
    const [first, second] = this.#metas
    if (!first) return 'its first page is not that of a store'
    return second ? undefined : 'its second page is not that of a store'
  }

  /**
   * Return which page in use is beyond the end of the file, which would crash LMDB; undefined if there is none. A file with
   * all pages that were ever allocated needs no search. Unused pages at the end are not always written.
   */
  lengthDamage(): string | undefined {
    if ((this.#meta?.lastPage ?? 0) < this.#pages) return undefined
    const missing = this.#firstPage((page) => page >= this.#pages)
    return missing === undefined ? undefined : `it ends before its page ${missing}`
  }

  /**
   * Return a damaged page of the trees; undefined if there is none. For large values only the existence of their pages
   * is checked.
   */
  firstDamage(): number | undefined {
    return this.#firstPage(() => true)
  }

  #firstPage(counts: (damagedPage: number) => boolean): number | undefined {
    const found: number[] = []
    const damaged = (page: number) => void (counts(page) && found.push(page))
    const walk: Walk = { visited: new Set(), damaged }
    for (const tree of [this.#meta?.free, this.#meta?.main])
      if (tree) for (const _ of this.#leafPages(tree, walk)) if (found.length > 0) return found[0]
    return found[0]
  }

  /**
   * Yield all intact records. If a key occurs repeatedly, the first record is the right one. Leaves below a damaged branch page
   * are found by searching all pages. If the tree of free pages is damaged as well, removed records may be among them.
   */
  *records(): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    const visited = new Set<number>()
    let lost = this.#meta === undefined
    const damaged = () => {
      lost = true
    }
    const free = this.#free(visited)
    if (this.#meta)
      for (const page of this.#leafPages(this.#meta.main, { visited, damaged })) yield* this.#whole(page)
    if (lost) for (const page of this.#strays(visited, free)) yield* this.#whole(page)
  }

  *#whole(leaves: readonly Leaf[]) {
    for (const leaf of leaves) {
      const value = valueAt(this.#file, leaf, this.#pageSize)
      if (value && hasValidChecksum(value)) yield { key: leaf.key, value }
    }
  }

  *#leafPages({ root }: Tree, walk: Walk): Generator<readonly Leaf[]> {
    if (root !== undefined) yield* this.#below(root, 0, walk)
  }

  *#below(number: number, level: number, walk: Walk): Generator<readonly Leaf[]> {
    const { visited, damaged } = walk
    const isNew = number < this.#pages && level < MAX_LEVELS && !visited.has(number)
    const page = isNew ? readPage(this.#file, number, this.#pageSize) : undefined
    if (!page || page.broken > 0) damaged(number)
    if (!page) return
    visited.add(number)
    for (const leaf of page.leaves ?? []) this.#checkLarge(leaf, damaged)
    if (page.leaves) yield page.leaves
    for (const child of page.children ?? []) yield* this.#below(child, level + 1, walk)
  }

  #checkLarge(leaf: Leaf, damaged: Walk['damaged']): void {
    const large = largePages(leaf, this.#pageSize)
    if (large && large.first + large.count > this.#pages) damaged(large.first + large.count - 1)
  }

  #free(visited: Set<number>): Set<number> {
    const free = new Set<number>()
    const lists = this.#meta ? this.#leafPages(this.#meta.free, { visited, damaged: () => undefined }) : []
    for (const leaves of lists) {
      for (const leaf of leaves) {
        const list = valueAt(this.#file, leaf, this.#pageSize)
        if (list) for (const page of freePages(list)) free.add(page)
      }
    }
    return free
  }

  /** Yield the leaf pages without a branch, the latest first. */
  *#strays(visited: ReadonlySet<number>, free: ReadonlySet<number>): Generator<readonly Leaf[]> {
    const found: { number: number; txn: number }[] = []
    for (let number = 2; number < this.#pages; number++) {
      if (visited.has(number) || free.has(number)) continue
      const page = readPage(this.#file, number, this.#pageSize)
      if (page?.leaves) found.push({ number, txn: page.txn })
    }
    found.sort((one, other) => other.txn - one.txn)
    for (const { number } of found) yield readPage(this.#file, number, this.#pageSize)?.leaves ?? []
  }
}
