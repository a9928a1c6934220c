import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SaltError } from '../../../../core/base/errors.ts'
import { decode } from '../../../../core/codec/index.ts'
import { processEntry } from '../../../../core/process/process-entry.ts'
import { checkStore, openStore } from '../../../../core/store/index.ts'
import { withoutChecksum } from '../../../../core/store/record.ts'
import { type Meta, readMeta, readPage, valueAt } from '../../../../core/store/salvage/pages.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

const RECORDS = 5000
const REMOVED = 500
const PAGE = 4096
/** Where the roots of the trees stand in a head. */
const ROOTS = { free: 88, records: 136 }

let directory: string
let original: string
beforeAll(async () => {
  directory = await temporaryFolder('salt-salvage-')
  original = join(directory, 'original.mdb')
  const store = openStore(original)
  for (let from = 0; from < RECORDS + REMOVED; from += 500)
    await store.change((records) => {
      for (let n = from; n < from + 500; n++) records.put(['row', n], row(n))
    })
  for (const from of [RECORDS, RECORDS + REMOVED / 2])
    await store.change((records) => {
      for (let n = from; n < from + REMOVED / 2; n++) records.remove(['row', n])
    })
  await store.close()
})
afterAll(() => removeFolder(directory))

const row = (n: number) => ({ n, text: 'x'.repeat(n % 40 === 0 ? 9000 : 60 + (n % 50)) })
const numberOf = (value: Uint8Array | undefined) =>
  Number((value && (withoutChecksum(value, decode)?.value as { n: number }))?.n)

/** Pages of the store by what they are, and which records lie on them. */
function pagesOf(path: string) {
  const file = openSync(path, 'r')
  const [first, second] = [readMeta(file, 0), readMeta(file, PAGE)] as [Meta, Meta]
  const meta = first.txn > second.txn ? first : second
  const branches: number[] = []
  const leaves = new Map<number, number[]>()
  const large = new Map<number, number[]>()
  const free: number[] = []
  const walk = (number: number) => {
    const page = readPage(file, number, PAGE)
    if (page?.children) branches.push(number)
    page?.children?.forEach(walk)
    if (!page?.leaves) return
    leaves.set(
      number,
      page.leaves.map((leaf) => numberOf(valueAt(file, leaf, PAGE))),
    )
    for (const leaf of page.leaves)
      if ('page' in leaf) large.set(leaf.page + 1, [numberOf(valueAt(file, leaf, PAGE))])
  }
  walk(meta.main.root as number)
  const freeRoot = meta.free.root as number
  free.push(freeRoot, ...(readPage(file, freeRoot, PAGE)?.children ?? []))
  closeSync(file)
  return { branches, leaves, large, free }
}

async function damagedCopy(name: string, pages: readonly number[]): Promise<string> {
  const path = join(directory, name)
  await copyFile(original, path)
  const file = openSync(path, 'r+')
  pages.forEach((page, n) => void writeSync(file, Buffer.alloc(PAGE, 0x30 + n), 0, PAGE, page * PAGE))
  closeSync(file)
  return path
}

async function present(path: string): Promise<Set<number>> {
  const store = openStore(path)
  const found = new Set<number>()
  for (const { key, value } of store.entries({ from: ['row'], to: ['rox'] })) {
    expect(value).toEqual(row(Number(key[1])))
    found.add(Number(key[1]))
  }
  await store.put(['still'], 'writable')
  await store.close()
  return found
}

const some = <T>(all: Iterable<T>, ...which: number[]): T[] => {
  const list = [...all]
  return which.map((n) => list[Math.floor(n * (list.length - 1))] as T)
}

const missing = (found: Set<number>, but: readonly number[] = []) =>
  Array.from({ length: RECORDS }, (_, n) => n).filter((n) => !found.has(n) && !but.includes(n))

test('a damaged page costs only its own records, and removed records stay removed', SLOW, async () => {
  const { branches, leaves, large } = pagesOf(original)
  expect(branches.length).toBeGreaterThan(1)
  const leafPages = some(leaves, 0, 0.2, 0.21, 0.6, 1)
  const largePages = some(large, 0.1, 0.5)
  const onThem = [...leafPages, ...largePages].flatMap(([, rows]) => rows)
  const pages = [...leafPages, ...largePages].map(([page]) => page)
  const path = await damagedCopy('pages.mdb', [...pages, ...some(branches, 0.5, 1)])
  const damage = (await checkStore(path)) as SaltError
  const found = await present(path)
  expect(missing(found, onThem)).toEqual([])
  expect(Math.max(...found)).toBeLessThan(RECORDS)
  expect(damage.message).toMatch(
    new RegExp(
      `The store ${path} is damaged .* It was moved to .*, and a new one has ${found.size} of its ${RECORDS} records`,
    ),
  )
  expect(readFileSync(String(damage.data.movedTo)).length).toBe(statSync(original).size)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await checkStore(path)).toBeUndefined()
})

test('a value with an impossible page number costs no other record', SLOW, async () => {
  const path = join(directory, 'beyond.mdb')
  await copyFile(original, path)
  const { leaves } = pagesOf(path)
  const file = openSync(path, 'r+')
  const place = [...leaves.keys()].flatMap((page) =>
    (readPage(file, page, PAGE)?.leaves ?? []).flatMap((leaf) =>
      'page' in leaf ? [page * PAGE + leaf.key.byteOffset + leaf.key.length] : [],
    ),
  )[0]
  writeSync(file, Buffer.alloc(8, 0x3f), 0, 8, place)
  closeSync(file)
  expect(await checkStore(path)).toBeDefined()
  expect((await present(path)).size).toBe(RECORDS - 1)
})

test('if the root and the list of free pages are damaged, too, all records are found', SLOW, async () => {
  const { branches, free } = pagesOf(original)
  const path = await damagedCopy('roots.mdb', [branches[0] as number, ...free])
  await checkStore(path)
  expect(missing(await present(path))).toEqual([])
})

test('if both heads are damaged, the store still has its records when it is opened', SLOW, async () => {
  const path = await damagedCopy('heads.mdb', [0, 1])
  const told: SaltError[] = []
  await openStore(path, { onDamage: (error) => told.push(error) }).close()
  expect(told).toHaveLength(1)
  expect(told[0]?.message).toContain('records that were found in it')
  expect(missing(await present(path))).toEqual([])
})

test.each([
  ['of free pages', ROOTS.free],
  ['of records', ROOTS.records],
])(
  'a newer head whose tree root %s is no page is detected, and all records are kept',
  SLOW,
  async (_, at) => {
    const path = join(directory, `root-${at}.mdb`)
    await copyFile(original, path)
    const file = openSync(path, 'r+')
    const [first, second] = [readMeta(file, 0), readMeta(file, PAGE)] as [Meta, Meta]
    const head = first.txn > second.txn ? 0 : PAGE
    writeSync(file, Buffer.alloc(8, 0x9a), 0, 8, head + at) // more than a number holds exactly
    closeSync(file)
    expect(await checkStore(path)).toBeDefined()
    expect(missing(await present(path))).toEqual([])
  },
)

test('no temporary files are left beside the stores', async () => {
  const names = await readdir(directory)
  expect(names.filter((name) => /salvaged|repair/.test(name))).toEqual([])
})

test('the process that reads a damaged store ends with its parent', async () => {
  const fresh = join(directory, 'unwanted.mdb')
  const entry = processEntry('store/salvage/salvage-process')
  const gone = '1' // the process id of another parent
  const { status, stdout } = spawnSync(process.execPath, [entry, original, fresh, gone], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, ''])
})
