import { closeSync, fstatSync, openSync } from 'node:fs'
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
import { isSealed } from './record.ts'

/** The size of a page where no meta page tells it. */
const USUAL_PAGE = 4096
const MOST_LEVELS = 30

interface Walk {
  readonly damaged: (page: number) => void
  readonly visited: Set<number>
}

/** An LMDB file, read page by page without LMDB. */
export class StoreFile {
  readonly #file: number
  readonly #metas: readonly [first: Meta | undefined, second: Meta | undefined]
  /** The newer one. */
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

  /** Records there should be; undefined if no meta page can be read. */
  get entries(): number | undefined {
    return this.#meta?.main.entries
  }

  /** Why LMDB would not take it for a file of its own. */
  headDamage(): string | undefined {
    const [first, second] = this.#metas
    if (!first) return 'its first page is not that of a store'
    return second ? undefined : 'its second page is not that of a store'
  }

  /**
   * Whether the file ends before a page that is in use, where LMDB would end the process. One that has all pages it ever
   * took is not read; pages at its end that were never needed are not always written.
   */
  lengthDamage(): string | undefined {
    if ((this.#meta?.lastPage ?? 0) < this.#pages) return undefined
    const missing = this.#firstPage((page) => page >= this.#pages)
    return missing === undefined ? undefined : `it ends before its page ${missing}`
  }

  /** A damaged page of the trees, if there is one. Of large values it is only looked whether their pages are there. */
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
   * All records that are whole, as key and value; a key may come again: the first counts. Where a branch page is damaged,
   * leaves are found that nothing leads to any more. If the account of free pages is damaged as well, records may be among
   * them that were removed.
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
      if (value && isSealed(value)) yield { key: leaf.key, value }
    }
  }

  *#leafPages({ root }: Tree, walk: Walk): Generator<readonly Leaf[]> {
    if (root !== undefined) yield* this.#below(root, 0, walk)
  }

  *#below(number: number, level: number, walk: Walk): Generator<readonly Leaf[]> {
    const { visited, damaged } = walk
    const isNew = number < this.#pages && level < MOST_LEVELS && !visited.has(number)
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

  /** The leaves no branch leads to, latest first. */
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
