import { fstatSync, readSync } from 'node:fs'

/**
 * Reads the pages of an LMDB file (data version 2, as lmdb 3 writes it, little endian). All values are checked: an invalid
 * page gives undefined, where LMDB would crash the process.
 */

/**
 * Page header: u64 page number, u64 transaction, u16 pad, u16 flags, u16 lower, u16 upper. Positions in a page count
 * from its end.
 */
const HEADER = 24
const AT = { txn: 8, flags: 18, lower: 20, upper: 22 } as const
const FLAG = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const
const KINDS = 0x6f

/** Positions in a meta page (`struct MDB_meta`). A tree is a `struct MDB_db`. */
const META = {
  magic: 24,
  version: 28,
  mapSize: 40,
  pageSize: 48,
  treeFlags: 52,
  free: 48,
  main: 96,
  lastPage: 144,
  txn: 152,
} as const
const TREE = { entries: 32, root: 40 } as const
const MAGIC = 0xbeefc0de
const VERSION = 2
const USUAL_PAGE = 4096
const NO_ROOT = 2n ** 64n - 1n
/**
 * Flags of a new file: the tree of free pages has integer keys (MDB_INTEGERKEY), and the file has no directory of its
 * own (MDB_NOSUBDIR).
 */
const NEW_TREE_FLAGS = 0x4008

/** A node begins with u16 low, u16 high, u16 flags, u16 size of the key; then come the key and the data. */
const NODE = 8
const LARGE = 0x01

export interface Tree {
  /** Undefined if it is empty. In a damaged head it may be the number of no page. */
  readonly root: number | undefined
  readonly entries: number
}

export interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly txn: number
  /** The tree of free pages. */
  readonly free: Tree
  /** The tree of records. */
  readonly main: Tree
}

/** A record with its value, or with the first page of a large value and its size in bytes. */
export type Leaf = { readonly key: Buffer } & (
  | { readonly value: Buffer }
  | { readonly page: number; readonly size: number }
)

export interface Page {
  readonly txn: number
  /** Page numbers of the children, in a branch page. */
  readonly children?: readonly number[]
  /** The records, in a leaf page. */
  readonly leaves?: readonly Leaf[]
  /** Number of invalid nodes. */
  readonly broken: number
}

function readBytes(file: number, position: number, length: number): Buffer | undefined {
  if (!Number.isSafeInteger(position)) return undefined
  const bytes = Buffer.allocUnsafe(length)
  return readSync(file, bytes, 0, length, position) === length ? bytes : undefined
}

/** Read the meta page at a position in bytes; undefined if it is invalid. */
export function readMeta(file: number, position: number): Meta | undefined {
  const page = readBytes(file, position, 512)
  if (!page || !(page.readUInt16LE(AT.flags) & FLAG.meta)) return undefined
  if (page.readUInt32LE(META.magic) !== MAGIC || page.readUInt32LE(META.version) !== VERSION) return undefined
  const pageSize = page.readUInt32LE(META.pageSize)
  if (pageSize < 512 || pageSize > 65_536) return undefined
  const number = (at: number) => Number(page.readBigUInt64LE(at))
  const tree = (at: number): Tree => {
    const isEmpty = page.readBigUInt64LE(at + TREE.root) === NO_ROOT
    return { root: isEmpty ? undefined : number(at + TREE.root), entries: number(at + TREE.entries) }
  }
  return {
    pageSize,
    lastPage: number(META.lastPage),
    txn: number(META.txn),
    free: tree(META.free),
    main: tree(META.main),
  }
}

/** Return the content of an empty store: the two meta pages at the beginning of a file. */
export function emptyStore(): Buffer {
  const pages = Buffer.alloc(2 * USUAL_PAGE)
  for (const [number, page] of [pages.subarray(0, USUAL_PAGE), pages.subarray(USUAL_PAGE)].entries()) {
    page.writeBigUInt64LE(BigInt(number), 0)
    page.writeUInt16LE(FLAG.meta, AT.flags)
    page.writeUInt32LE(MAGIC, META.magic)
    page.writeUInt32LE(VERSION, META.version)
    page.writeBigUInt64LE(BigInt(2 ** 30), META.mapSize)
    page.writeUInt32LE(USUAL_PAGE, META.pageSize)
    page.writeUInt16LE(NEW_TREE_FLAGS, META.treeFlags)
    for (const tree of [META.free, META.main]) page.writeBigUInt64LE(NO_ROOT, tree + TREE.root)
    page.writeBigUInt64LE(1n, META.lastPage)
  }
  return pages
}

/** Return the pages of a large value; undefined if the value is beside its key. */
export function largePages(leaf: Leaf, pageSize: number): { first: number; count: number } | undefined {
  return 'page' in leaf ? { first: leaf.page, count: Math.ceil((HEADER + leaf.size) / pageSize) } : undefined
}

/** Read a branch or leaf page; undefined if it is invalid. */
export function readPage(file: number, number: number, pageSize: number): Page | undefined {
  const bytes = readBytes(file, number * pageSize, pageSize)
  if (!bytes || Number(bytes.readBigUInt64LE(0)) !== number) return undefined
  const kind = bytes.readUInt16LE(AT.flags) & KINDS
  const [lower, upper] = [bytes.readUInt16LE(AT.lower), bytes.readUInt16LE(AT.upper)]
  if (lower % 2 || lower > upper || HEADER + upper > pageSize) return undefined
  if (kind !== FLAG.branch && kind !== FLAG.leaf) return undefined
  const starts = Array.from({ length: lower / 2 }, (_, n) => HEADER + bytes.readUInt16LE(HEADER + 2 * n))
  const nodes = starts.map((start) => (kind === FLAG.leaf ? leafAt(bytes, start) : childAt(bytes, start)))
  const whole = nodes.filter((node) => node !== undefined)
  return {
    txn: Number(bytes.readBigUInt64LE(AT.txn)),
    broken: nodes.length - whole.length,
    ...(kind === FLAG.leaf ? { leaves: whole as Leaf[] } : { children: whole as number[] }),
  }
}

function childAt(page: Buffer, start: number): number | undefined {
  if (start + NODE > page.length) return undefined
  return page.readUInt32LE(start) + page.readUInt16LE(start + 4) * 2 ** 32
}

function leafAt(page: Buffer, start: number): Leaf | undefined {
  if (start + NODE > page.length) return undefined
  const size = page.readUInt32LE(start)
  const from = start + NODE + page.readUInt16LE(start + 6)
  const isLarge = page.readUInt16LE(start + 4) & LARGE
  if (from + (isLarge ? 8 : size) > page.length) return undefined
  const key = page.subarray(start + NODE, from)
  if (isLarge) return { key, page: Number(page.readBigUInt64LE(from)), size }
  return { key, value: page.subarray(from, from + size) }
}

/** Return the value of a record, also from separate pages; undefined if these are invalid. */
export function valueAt(file: number, leaf: Leaf, pageSize: number): Buffer | undefined {
  if ('value' in leaf) return leaf.value
  const header = readBytes(file, leaf.page * pageSize, HEADER)
  const isThere = header && Number(header.readBigUInt64LE(0)) === leaf.page
  if (!isThere || !(header.readUInt16LE(AT.flags) & FLAG.overflow)) return undefined
  if (leaf.size > fstatSync(file).size) return undefined
  return readBytes(file, leaf.page * pageSize + HEADER, leaf.size)
}

/**
 * Yield the page numbers of an entry in the tree of free pages: a count, then numbers; `-n` precedes the first of n
 * successive pages.
 */
export function* freePages(list: Buffer): Generator<number> {
  const count = Math.min(list.length >= 8 ? Number(list.readBigInt64LE(0)) : 0, list.length / 8 - 1)
  let run = 1
  for (let n = 1; n <= count; n++) {
    const entry = Number(list.readBigInt64LE(8 * n))
    if (entry > 0) for (let page = 0; page < run; page++) yield entry + page
    run = entry < 0 ? -entry : 1
  }
}

/** Return the number of the newest commit in a store's file. */
export function newestCommit(file: number): number {
  const first = readMeta(file, 0)
  const second = readMeta(file, first?.pageSize ?? USUAL_PAGE)
  return Math.max(first?.txn ?? 0, second?.txn ?? 0)
}
