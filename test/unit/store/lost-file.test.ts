import { spawn } from 'node:child_process'
import { existsSync, rmSync, statSync, truncateSync } from 'node:fs'
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keysUnder, openStore, type Store } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'
import { eventually } from '../../harness/until.ts'

const childProgram = await testProgram('store-child.ts', import.meta.url)

let folder: string
let directory: string
let path: string
let damageReports: string[]
const open: Store[] = []

beforeEach(async () => {
  folder = await temporaryFolder('salt-lost-')
  directory = join(folder, 'store')
  path = join(directory, 'test.mdb')
  damageReports = []
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()))
  await removeFolder(folder)
})

function openTestStore(at = path): Store {
  const store = openStore(at, { onDamage: ({ message }) => damageReports.push(message) })
  open.push(store)
  return store
}

/** What somebody finds who looks at the disk, in a copy of the file: this process has the other open. */
async function onDisk(): Promise<string[]> {
  const copy = join(folder, `copy-${open.length}.mdb`)
  await copyFile(path, copy)
  return [...openTestStore(copy).keys(keysUnder('row'))].map(([, name]) => String(name))
}

async function filled(...names: string[]): Promise<Store> {
  const store = openTestStore()
  for (const name of names) await store.put(['row', name], name)
  return store
}

const removals: [string, () => Promise<void>][] = [
  ['its file was removed', () => rm(path)],
  ['its directory was removed', () => rm(directory, { recursive: true })],
  ['its directory was moved away', () => rename(directory, join(folder, 'elsewhere'))],
]

describe.each(removals)('a store that is in use when %s', (_, remove) => {
  test('has all its records in a new file when the next change is acknowledged', async () => {
    const store = await filled('a', 'b')
    await remove()
    await store.put(['row', 'c'], 'c')
    expect(await onDisk()).toEqual(['a', 'b', 'c'])
    expect(store.get(['row', 'a'])).toBe('a')
    expect(damageReports).toEqual([expect.stringContaining(`The store ${path} was removed`)])
  })
})

test('a removed file is written again within seconds, even without changes to its store', SLOW, async () => {
  await filled('a')
  await rm(directory, { recursive: true })
  await eventually(() => expect(damageReports).toHaveLength(1))
  expect(await onDisk()).toEqual(['a'])
})

test('a change during the removal of the file is acknowledged when it is in the new file', async () => {
  const store = await filled('a')
  await store.change((records) => {
    records.put(['row', 'b'], 'b')
    rmSync(path)
  })
  expect(await onDisk()).toEqual(['a', 'b'])
})

test('a store that cannot be recreated acknowledges nothing until it can', async () => {
  const store = await filled('a')
  await rm(directory, { recursive: true })
  await writeFile(directory, 'in the way')
  await expect(store.put(['row', 'b'], 'b')).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await rm(directory)
  await store.put(['row', 'c'], 'c')
  expect(await onDisk()).toEqual(expect.arrayContaining(['a', 'c']))
})

test('a store whose file is replaced has the records of both files; for common keys those of the new file', async () => {
  const store = await filled('a', 'b')
  const other = openStore(join(folder, 'other.mdb'))
  await other.put(['row', 'b'], 'of the other')
  await other.put(['row', 'c'], 'c')
  await other.close()
  await rename(join(folder, 'other.mdb'), path)
  await store.put(['row', 'd'], 'd')
  expect(await onDisk()).toEqual(['a', 'b', 'c', 'd'])
  expect(store.get(['row', 'b'])).toBe('of the other')
})

test('a store whose directory is restored continues there', async () => {
  const store = await filled('a')
  await rename(directory, join(folder, 'elsewhere'))
  await store.put(['row', 'b'], 'b')
  await rm(directory, { recursive: true })
  await rename(join(folder, 'elsewhere'), directory)
  await store.put(['row', 'c'], 'c')
  expect(await onDisk()).toEqual(['a', 'b', 'c'])
})

test('several processes lose no acknowledged record, and continue in one file', SLOW, async () => {
  const store = openTestStore()
  const rows = Array.from({ length: 2000 }, (_, n) => n)
  await Promise.all(rows.map((n) => store.put(['old', n], 'x'.repeat(300))))
  const children = [1, 2].map((n) => spawnWriter(1000 * n))
  await Promise.all(children.map(({ writes }) => writes(20)))
  const gone = `${directory}-gone` // what they make again must not be in the way of its removal
  await rename(directory, gone)
  await rm(gone, { recursive: true })
  const own = Array.from({ length: 50 }, (_, n) => store.put(['own', n], n))
  await Promise.all([...own, ...children.map(({ writes }) => writes(20))])
  const acknowledged = await Promise.all(children.map(({ end }) => end()))
  expect([...store.keys(keysUnder('old'))]).toHaveLength(rows.length)
  expect([...store.keys(keysUnder('own'))]).toHaveLength(50)
  for (const n of acknowledged.flat()) expect(store.has([n]), `row ${n}`).toBe(true)
})

function spawnWriter(from: number) {
  const child = spawn(process.execPath, [childProgram, path, 'write-from', String(from)])
  const acknowledged: number[] = []
  let tell = () => {}
  createInterface(child.stdout).on('line', (line) => {
    acknowledged.push(Number(line))
    tell()
  })
  return {
    async writes(more: number) {
      const goal = acknowledged.length + more
      while (acknowledged.length < goal) {
        await new Promise<void>((done) => {
          tell = done
        })
      }
    },
    async end() {
      child.kill('SIGKILL')
      await new Promise((done) => child.once('close', done))
      return acknowledged
    },
  }
}

test('a store that is truncated to zero while in use starts anew, and reports it', SLOW, async () => {
  const store = await filled('a', 'b')
  truncateSync(path, 0)
  await eventually(() => expect(store.get(['row', 'a'])).toBeUndefined())
  await store.put(['row', 'c'], 'c')
  expect(await onDisk()).toEqual(['c'])
  expect(damageReports).toEqual([
    expect.stringMatching(`The store ${path} is damaged .*became shorter.*a new one was started`),
  ])
})

test(
  'a truncated store is changed only after a repair, and keeps its records from before',
  SLOW,
  async () => {
    const store = openTestStore()
    for (let n = 0; n < 400; n++) await store.put(['row', `r${n}`], 'x'.repeat(200))
    truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096)
    await store.put(['row', 'new'], 'new')
    const found = await onDisk()
    expect(found).toContain('new')
    expect(found.length).toBeGreaterThan(1)
    expect(damageReports).toEqual([expect.stringContaining('is damaged')])
  },
)

describe('a file that is opened', () => {
  test('with 0 bytes is a damaged store, not a new one', async () => {
    await mkdir(directory)
    await writeFile(path, '')
    await openTestStore().put(['row', 'a'], 'a')
    expect(damageReports).toEqual([expect.stringMatching(`${path} is damaged \\(it is empty\\)`)])
  })

  test.each([0.3, 0.6, 0.95])('with only its first part (%s) is repaired', SLOW, async (part) => {
    const store = openTestStore()
    for (let n = 0; n < 400; n++) await store.put(['row', `r${n}`], 'x'.repeat(n % 50 ? 200 : 9000))
    await store.close()
    truncateSync(path, Math.floor((statSync(path).size * part) / 4096) * 4096)
    const again = openTestStore()
    for (const key of again.keys(keysUnder('row'))) expect(again.get(key)).toBeDefined()
    expect(damageReports).toEqual([expect.stringMatching(/is damaged \(it ends before its page \d+\)/)])
  })

  test('that ends before pages that were never used is not changed', async () => {
    const store = await filled('a')
    await store.change((records) => {
      records.put(['row', 'large'], Buffer.alloc(2 ** 18))
      records.remove(['row', 'large'])
    })
    await store.close()
    expect(openTestStore().get(['row', 'a'])).toBe('a')
    expect(damageReports).toEqual([])
  })
})

test('a process that died while it created a store does not block others', async () => {
  await mkdir(directory)
  await writeFile(`${path}.turn`, '4194304')
  await filled('a')
  expect(existsSync(`${path}.turn`)).toBe(false)
})
