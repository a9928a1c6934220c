import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SaltError } from '../../../core/base/errors.ts'
import { Float } from '../../../core/codec/index.ts'
import { checkStore, keysUnder, openStore, type Store } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { MOUNTS, needs, STRACE } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'

const child = await testProgram('store-child.ts', import.meta.url)
const childArguments = [child]

let directory: string
let path: string
const open: Store[] = []

function openTestStore(options?: Parameters<typeof openStore>[1]): Store {
  const store = openStore(path, options)
  open.push(store)
  return store
}

beforeEach(async () => {
  directory = await temporaryFolder('salt-store-')
  path = join(directory, 'test.mdb')
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()))
  await removeFolder(directory)
})

describe('records', () => {
  test('are returned with the same type of every value', async () => {
    const value = {
      float: new Float(3),
      big: 2n ** 63n,
      bytes: Buffer.from([0xff, 0, 1]),
      list: [null, true, 'ż', -1.5],
    }
    await openTestStore().put(['a'], value)
    expect(open[0]?.get(['a'])).toEqual(value)
  })

  test('are undefined after remove, like unknown ones', async () => {
    const store = openTestStore()
    await store.put(['a'], 1)
    await store.remove(['a'])
    expect(store.get(['a'])).toBeUndefined()
    expect(store.has(['a'])).toBe(false)
    expect(store.get(['never'])).toBeUndefined()
  })

  test('survive closing and opening', async () => {
    await openTestStore().put(['a'], 'kept')
    await open.pop()?.close()
    expect(openTestStore().get(['a'])).toBe('kept')
  })

  test('are listed in order, both ways, across pages, within their range', async () => {
    const store = openTestStore()
    const numbers = Array.from({ length: 500 }, (_, n) => n)
    await Promise.all(numbers.map((n) => store.put(['n', n, 'x'], n)))
    await store.put(['o'], 'outside')
    const listed = (reverse: boolean) =>
      [...store.entries(keysUnder('n'), { reverse })].map(({ value }) => value)
    expect(listed(false)).toEqual(numbers)
    expect(listed(true)).toEqual(numbers.toReversed())
    expect([...store.keys(keysUnder('o'))]).toEqual([['o']])
    expect([...store.keys({ from: ['n', 5], to: ['n', 7] })]).toEqual([
      ['n', 5, 'x'],
      ['n', 6, 'x'],
    ])
  })

  test('of 16 MiB are stored like small ones', SLOW, async () => {
    const store = openTestStore({ mapSize: 2 ** 20 })
    const value = Buffer.alloc(2 ** 24, 0xfe)
    await store.put(['large'], value)
    expect(value.equals(store.get(['large']) as Buffer)).toBe(true)
  })

  test('with a key that cannot be stored are refused with a sentence', async () => {
    const store = openTestStore()
    await expect(store.put(['a\0b'], 1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
    await expect(store.put(['x'.repeat(3000)], 1)).rejects.toThrow('at most 1900 bytes')
  })
})

describe('changes', () => {
  test('see their own earlier writes', async () => {
    const store = openTestStore()
    const seen = await store.change((records) => {
      records.put(['a'], 1)
      return [records.get(['a']), records.has(['a']), [...records.keys(keysUnder('a'))].length]
    })
    expect(seen).toEqual([1, true, 1])
  })

  test('that throw fail for their caller only', async () => {
    const store = openTestStore()
    const results = await Promise.allSettled([
      store.put(['a'], 1),
      store.change(() => {
        throw new Error('no')
      }),
      store.put(['b'], 2),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(store.get(['b'])).toBe(2)
  })

  test('of several processes are made one after the other', SLOW, async () => {
    const store = openTestStore()
    await Promise.all([1, 2, 3].map(() => execa(process.execPath, [...childArguments, path, 'count', '200'])))
    expect(store.get(['count'])).toBe(600)
  })

  test('work while other processes open and close the store, each as the last one', SLOW, async () => {
    const run = () => execa(process.execPath, [...childArguments, path, 'open-and-close', '600'])
    await Promise.all([1, 2].map(run))
  })

  test('are refused after close, which waits for pending ones', async () => {
    const store = openTestStore()
    const written = store.put(['a'], 1)
    await store.close()
    await expect(written).resolves.toBeUndefined()
    await expect(store.put(['b'], 1)).rejects.toThrow('is closed')
  })
})

describe('durability', () => {
  test('every acknowledged change is there after kill -9', SLOW, async () => {
    const writer = spawn(process.execPath, [...childArguments, path, 'write-for-ever'])
    const last = await killAfterLines(writer, 200)
    const store = openTestStore()
    for (let n = 0; n <= last; n++) {
      for (const part of [0, 1, 2]) expect(store.get([n, part])).toMatchObject({ n })
    }
    await store.put(['still'], 'writable')
  })

  test('a change is on disk before its promise resolves', { ...needs(STRACE), ...SLOW }, async () => {
    const trace = join(directory, 'trace')
    const calls = 'trace=openat,pwrite64,pwritev,writev,fdatasync,fsync,msync,write'
    await execa('strace', [
      '-f',
      '-e',
      calls,
      '-o',
      trace,
      process.execPath,
      ...childArguments,
      path,
      'write-watched',
      '5',
    ])
    const lines = readFileSync(trace, 'utf8')
    const steps = lines.split('\n').map(stepOf).filter(Boolean).join(' ')
    expect(steps.match(/asked (data )+sync meta acknowledged/g)).toHaveLength(5)
    expect(lines).toMatch(/test\.mdb", O_WRONLY\|O_DSYNC/) // the meta page goes out through this one
  })
})

/** What a process does that opens a store while another one commits: it writes the number of the commit before. */
const SET_BACK = `
  const { openSync, readSync, writeSync } = require('node:fs')
  const table = openSync(process.argv[1], 'r+')
  const number = Buffer.alloc(8)
  readSync(table, number, 0, 8, 8)
  number.writeBigUInt64LE(number.readBigUInt64LE() - 1n)
  writeSync(table, number, 0, 8, 8)`

test(
  'a commit is not replaced by the next one if a process that opens the store has reset the transaction number',
  SLOW,
  async () => {
    const store = openTestStore()
    for (let n = 0; n < 5; n++) {
      await store.put(['before', n], n)
      execFileSync(process.execPath, ['-e', SET_BACK, `${path}-lock`])
      await store.put(['after', n], n)
    }
    const kept = (name: string) => [...store.keys(keysUnder(name))].map(([, n]) => n)
    expect([kept('before'), kept('after')]).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
    ])
  },
)

describe('a process that ends during a commit', () => {
  const endOf = (what: string) =>
    execa(process.execPath, [...childArguments, path, what], { reject: false, timeout: 15_000 })

  test('ends, does not block the store, and leaves no uncommitted record', SLOW, async () => {
    const store = openTestStore()
    await store.put(['before'], 1)
    expect(await endOf('leave-amid-commit')).toMatchObject({ timedOut: false, signal: 'SIGKILL' })
    await store.put(['later'], 3)
    expect(['before', 'after', 'later'].filter((key) => store.has([key]))).toEqual(['before', 'later'])
  })

  test('because of an uncaught error still reports the error', async () => {
    expect(await endOf('fail-amid-commit')).toMatchObject({
      timedOut: false,
      stderr: expect.stringContaining('nobody expects this'),
    })
    await openTestStore().put(['later'], 3)
  })
})

describe('a failing disk', needs(STRACE), () => {
  /** Makes single writes of the process fail; one thread does all of them, so they can be counted. */
  async function withFailures(inject: string): Promise<string[]> {
    const tracing = ['-f', '-o', '/dev/null', '-e', `inject=${inject}`]
    const run = [process.execPath, ...childArguments, path, 'write-through-failures', '10']
    const { stdout } = await execa('strace', [...tracing, ...run], { env: { UV_THREADPOOL_SIZE: '1' } })
    return stdout.split('\n')
  }

  test.each([
    ['the meta page cannot be written', 'pwrite64:error=ENOSPC:when=3..4'],
    ['fdatasync fails', 'fdatasync:error=EIO:when=3'],
  ])('%s: that change is refused, later ones are stored', SLOW, async (_, inject) => {
    const lines = await withFailures(inject)
    const store = openTestStore()
    const stored = lines.map((_line, n) => (store.has([n]) ? `acknowledged ${n}` : `failed ${n}`))
    expect(lines).toEqual(stored)
    expect(lines.filter((line) => line.startsWith('failed'))).toHaveLength(1)
    expect(lines.at(-1)).toBe('acknowledged 9')
  })
})

describe('a full disk', needs(MOUNTS), () => {
  let disk: string

  beforeEach(() => {
    disk = join(directory, 'disk')
    execFileSync('mkdir', [disk])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk])
    path = join(disk, 'test.mdb')
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()))
    execFileSync('umount', [disk])
  })

  const fill = () => {
    const file = openSync(join(disk, 'filler'), 'w')
    try {
      for (;;) writeSync(file, Buffer.alloc(4096))
    } catch {
      closeSync(file)
    }
  }
  const makeRoom = () => rm(join(disk, 'filler'))

  test('refuses a change with the reason, keeps the records, and works again when there is room', async () => {
    const printed = vi.spyOn(console, 'error')
    const store = openTestStore()
    await store.put(['before'], 1)
    fill()
    const large = Buffer.alloc(100_000)
    for (let n = 0; n < 3; n++) {
      await expect(store.put(['large', n], large)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    }
    await expect(store.put(['large'], large)).rejects.toThrow('The disk is full')
    expect(store.get(['before'])).toBe(1)
    expect(store.has(['large'])).toBe(false)
    await makeRoom()
    await store.put(['large'], large)
    expect(store.has(['large'])).toBe(true)
    expect(printed).not.toHaveBeenCalled()
    printed.mockRestore()
  })

  test('is not reported as damage by the check', SLOW, async () => {
    await openTestStore().put(['before'], 1)
    await open.pop()?.close()
    fill()
    expect(await checkStore(path)).toBeUndefined()
    expect(openTestStore().get(['before'])).toBe(1)
  })

  test('does not prevent an existing store from being opened and read', async () => {
    await openTestStore().put(['before'], 1)
    await open.pop()?.close()
    fill()
    expect(openTestStore().get(['before'])).toBe(1)
  })

  test('refuses a new store with a sentence', async () => {
    fill()
    expect(() => openTestStore()).toThrow(/cannot be opened: .*(room|space)/)
    await makeRoom()
    await openTestStore().put(['a'], 1)
  })
})

describe('damage', () => {
  test.each([
    ['random bytes', Buffer.from('never a store. '.repeat(2000))],
    ['a few bytes', Buffer.from('short')],
    ['zeros', Buffer.alloc(20_000)],
  ])('a file of %s is moved aside and reported, and a new store is there', SLOW, async (_, content) => {
    writeFileSync(path, content)
    const reports: SaltError[] = []
    const store = openTestStore({ onDamage: (error) => reports.push(error) })
    await store.put(['a'], 1)
    expect(reports).toHaveLength(1)
    expect(reports[0]).toMatchObject({ code: 'STORE_FAILED' })
    expect(readFileSync(String(reports[0]?.data.movedTo))).toEqual(content)
  })

  test('a changed record is reported and left out, never returned as something else', async () => {
    const reports: SaltError[] = []
    const store = openTestStore({ onDamage: (error) => reports.push(error) })
    await store.put(['good'], 'good')
    await store.put(['bad'], 'recognisable text')
    await open.pop()?.close()
    const bytes = readFileSync(path)
    for (let at = bytes.indexOf('recognisable'); at >= 0; at = bytes.indexOf('recognisable', at + 1))
      bytes[at] = 0x52
    writeFileSync(path, bytes)
    const again = openTestStore({ onDamage: (error) => reports.push(error) })
    expect(again.get(['bad'])).toBeUndefined()
    expect(again.get(['good'])).toBe('good')
    expect(reports.map(({ message }) => message)).toEqual([expect.stringContaining('["bad"]')])
  })

  test('a store without records whose free pages are damaged is also found by the check', SLOW, async () => {
    const store = openTestStore()
    for (let n = 0; n < 50; n++) await store.put([n], 'x'.repeat(2000))
    for (let n = 0; n < 50; n++) await store.remove([n])
    await open.pop()?.close()
    expect(await checkStore(path)).toBeUndefined()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xa5, 2 * 4096)) // behind the two heads
    const damage = await checkStore(path)
    expect(damage?.message).toMatch(/is damaged .* was moved to/)
    await openTestStore().put(['a'], 1)
  })

  test('a check that cannot run does not report damage', async () => {
    await openTestStore().put(['a'], 1)
    await open.pop()?.close()
    vi.stubEnv('NODE_OPTIONS', '--no-such-option')
    expect(await checkStore(path)).toBeUndefined()
    vi.unstubAllEnvs()
    expect(await readdir(directory)).not.toContainEqual(expect.stringContaining('.damaged-'))
  })

  test('a truncated store is found by the check and moved aside', SLOW, async () => {
    const store = openTestStore()
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.put([n], Buffer.alloc(3000, n))))
    await open.pop()?.close()
    expect(await checkStore(path)).toBeUndefined()
    truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096)
    const damage = await checkStore(path)
    expect(damage?.message).toMatch(/is damaged .* was moved to/)
    expect(await readdir(directory)).toContainEqual(expect.stringContaining('.damaged-'))
    await openTestStore().put(['a'], 1)
  })
})

test('files can be read by their owner only', async () => {
  await openTestStore().put(['a'], 1)
  for (const file of [path, `${path}-lock`]) expect(statSync(file).mode & 0o777).toBe(0o600)
})

/** Kills the process when it has printed enough lines; gives the number of the last one. */
function killAfterLines(writer: ChildProcess, lines: number): Promise<number> {
  let output = ''
  writer.stdout?.on('data', (chunk: Buffer) => {
    output += chunk
    if (output.split('\n').length > lines) writer.kill('SIGKILL')
  })
  return new Promise((resolve) => {
    writer.on('close', () => resolve(Number(output.trimEnd().split(' ').at(-1))))
  })
}

/** The kind of a traced system call, as far as it matters. */
function stepOf(line: string): string | undefined {
  const said = /write\(1, "(asked|acknowledged)/.exec(line)?.[1]
  if (said) return said
  if (/f(data)?sync\(|msync\(/.test(line)) return 'sync'
  if (/pwrite64\(\d+, .*, 128, \d+\)/.test(line)) return 'meta'
  return /writev\(|pwrite64\(/.test(line) ? 'data' : undefined
}

function _succeeds(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
