/** Paths in requests about files: nothing outside the roots is read, nothing outside a minion's own folder written. */
import { mkdir, readdir, readFile, rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MinionId } from '../../core/base/minion-id.ts'
import { receiveFile } from '../../core/fileserver/index.ts'
import { recordingLog } from '../../core/testing/recording-log.ts'
import { FileRoots, SECRET } from '../harness/file-roots.ts'
import { filesBelow } from '../harness/files.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

const PATHS = 20_000
const AT_ONCE = 500
const id = 'web1' as MinionId

/** What attacks are made of, and a few names that exist. */
const parts = [
  ...[
    '..',
    '.',
    '',
    '...',
    '....//',
    '..\\',
    '%2e%2e',
    '%2f',
    '..%2f',
    '%252e%252e',
    '..;',
    '\0',
    '..\0',
    '~',
    '$HOME',
  ],
  ...[
    'file',
    'sub',
    'link-in',
    'link-out',
    'file-out',
    'circle',
    'salt-secret',
    'secret',
    'salt',
    'etc',
    'passwd',
  ],
  ...[
    '|',
    '||..',
    '?saltenv=..',
    '?saltenv=../salt-secret',
    'salt:',
    'file:',
    '\u2025',
    '\uff0e\uff0e',
    '‮..',
    'a\n..',
  ],
  ...['__env__', '__proto__', 'n'.repeat(256), '\ud800', 'C:', '*', '[.][.]'],
]
/** Any, also half a pair; `fc.string` would first write a table of all of them. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff })
const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...parts) },
  { weight: 1, arbitrary: fc.array(codePoint, { maxLength: 8 }).map((all) => String.fromCodePoint(...all)) },
)

let roots: FileRoots
const paths: string[] = []

beforeAll(async () => {
  roots = await FileRoots.make()
  await roots.write('salt/sub/file', 'in base')
  await roots.link('salt/link-in', 'sub')
  await roots.link('salt/link-out', '../salt-secret')
  await roots.link('salt/file-out', '../secret')
  await roots.link('salt/circle', '.')
  await roots.write('cache/secret', SECRET)
  await roots.age('salt', 'salt/sub')
  const ways = [
    (names: string[]) => names.join('/'),
    (names: string[]) => `/${names.join('/')}`,
    (names: string[]) => `${roots.base}/${names.join('/')}`,
    (names: string[]) => `|${names.join('/')}`,
    (names: string[]) => `salt://${names.join('/')}`,
    (names: string[]) => `sub/${'../'.repeat(names.length)}${names.at(-1)}`,
    (names: string[]) => `${names.join('/')}?saltenv=${names.at(-1)}`,
  ]
  const written = fc.tuple(fc.constantFrom(...ways), fc.array(part, { minLength: 1, maxLength: 8 }))
  paths.push(...fc.sample(written, { numRuns: PATHS, seed: 2024 }).map(([way, names]) => way(names)))
})
afterAll(() => roots?.remove())

async function forEach(work: (path: string, index: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < paths.length; at += AT_ONCE)
    await Promise.all(paths.slice(at, at + AT_ONCE).map((path, index) => work(path, at + index)))
}

/** All of an answer as one text: bytes as what they spell. */
const spelled = (answer: unknown): string =>
  JSON.stringify(answer, (_, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString() : value,
  ) ?? ''

describe(`${PATHS.toLocaleString('en')} random and crafted paths`, () => {
  test('CVE-2024-22232: read no file outside the roots, by any request', { timeout: 300_000 }, async () => {
    const ask = await roots.serve({
      file_roots: { base: [roots.base], __env__: [join(roots.folder, 'envs', '__env__')] },
    })
    const before = filesBelow(roots.folder)
    const served = new Set<string>()
    await forEach(async (path, index) => {
      const saltenv = index % 3 === 0 ? path : 'base'
      const load = { path, saltenv, prefix: path, loc: 0 }
      for (const cmd of ['_serve_file', '_file_hash', '_file_find', '_file_hash_and_stat']) {
        const answer = await ask(cmd, load)
        if (spelled(answer).includes(SECRET))
          throw new Error(`${cmd} of ${JSON.stringify(path)} told the secret`)
        const place = (answer as { path?: string }).path
        if (place) served.add(place)
      }
      for (const cmd of ['_file_list', '_file_list_emptydirs', '_dir_list', '_symlink_list']) {
        const listed = spelled(await ask(cmd, load))
        if (/salt-secret"|secret\/|\.\.\/secret/.test(listed))
          throw new Error(`${cmd} of ${JSON.stringify(path)} told what is elsewhere: ${listed}`)
      }
    })
    expect([...served].sort()).toEqual([join(roots.base, 'file'), join(roots.base, 'sub', 'file')])
    expect(filesBelow(roots.folder)).toEqual(before)
  })

  test("CVE-2024-38824: write no file outside the minion's own folder", { timeout: 300_000 }, async () => {
    const config = { cachedir: join(roots.folder, 'cache'), file_recv: true, file_recv_max_size: 1 }
    const own = join(config.cachedir, 'minions', id, 'files')
    await mkdir(own, { recursive: true, mode: 0o700 })
    await symlink(join(roots.folder, 'salt-secret'), join(own, 'link-out'))
    await symlink(join(roots.folder, 'secret'), join(own, 'file-out'))
    const outside = () => filesBelow(roots.folder).filter((file) => !file.startsWith(`${own}/`))
    const before = outside()
    const said: string[] = []
    const log = recordingLog((_, message) => said.push(message))
    let written = 0
    await forEach(async (path, index) => {
      const names = index % 2 ? path.split('/') : path.split('/').filter(Boolean)
      const load = { path: index % 5 === 0 ? [path] : names, loc: 0, data: 'x', size: 1 }
      if ((await receiveFile(load, id, { config, log, isNew: async () => true })) === true) written++
    })
    expect(outside()).toEqual(before)
    expect(written).toBeGreaterThan(1000)
    expect(await readFile(join(roots.folder, 'secret'), 'utf8')).toBe(SECRET)
  })
})

describe('a file that is pushed', () => {
  let master: InProcessMaster
  let minion: Peer

  beforeAll(async () => {
    master = await InProcessMaster.open({ options: { file_recv: true, file_recv_max_size: 1 } })
    minion = await Peer.named('wire1')
    await master.file('wire1', minion.key.publicKey)
    await minion.signIn((frame) => master.answer(frame))
  })
  afterAll(() => master?.close())

  const folder = () => join(master.config.cachedir, 'minions', 'wire1', 'files')
  const sealed = (load: Record<string, unknown>) => minion.seal({ cmd: '_file_recv', size: 1, ...load })
  async function push(load: Record<string, unknown>): Promise<unknown> {
    const request = sealed(load)
    return request.open(await master.answer(request.frame))
  }

  test('is stored in the folder of the minion that sent it, readable by its owner only', async () => {
    expect(await push({ path: ['etc', 'motd'], loc: 0, data: 'hello ' })).toBe(true)
    expect(await push({ path: ['etc', 'motd'], loc: 6, data: Buffer.from('wörld') })).toBe(true)
    expect(await readFile(join(folder(), 'etc', 'motd'), 'utf8')).toBe('hello wörld')
    const modes = filesBelow(join(master.config.cachedir, 'minions')).map((line) => line.split(' ').at(-1))
    expect(modes.every((mode) => mode === '40700' || mode === '100600')).toBe(true)
  })

  test('is stored whole: no gap, nothing of an older version after its end, and the same piece twice is harmless', async () => {
    await push({ path: ['a'], loc: 0, data: 'a longer version' })
    expect(await push({ path: ['a'], loc: 100, data: 'x' })).toBe(false)
    expect(await push({ path: ['a'], loc: 0, data: 'one ' })).toBe(true)
    for (let count = 0; count < 2; count++)
      expect(await push({ path: ['a'], loc: 4, data: 'two' })).toBe(true)
    expect(await readFile(join(folder(), 'a'), 'utf8')).toBe('one two')
  })

  test('is not larger than file_recv_max_size, and no part of a larger one is kept', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    expect(await push({ path: ['big'], loc: 0, data: megabyte })).toBe(true)
    expect(await push({ path: ['big'], loc: megabyte.length, data: 'y' })).toBe(false)
    await expect(readFile(join(folder(), 'big'))).rejects.toThrow('ENOENT')
    expect(master.logged.join('\n')).toContain('larger than 1 MB (file_recv_max_size)')
  })

  test('is refused with the reason if the minion asks for reasons', async () => {
    const refused = 'it is larger than 1 MB (file_recv_max_size)'
    const load = { path: ['late'], loc: 2 ** 20, data: 'y', reasons: true }
    expect(await push(load)).toEqual({ refused })
    const gap = await push({ ...load, loc: 5 })
    expect(gap).toEqual({ refused: expect.stringContaining('an earlier piece is missing') })
    expect(await push({ ...load, path: '..' })).toEqual({
      refused: expect.stringContaining('no usable path'),
    })
  })

  test('a recorded request does not bring back an older version', async () => {
    const old = sealed({ path: ['replayed'], loc: 0, data: 'old' })
    expect(old.open(await master.answer(old.frame))).toBe(true)
    expect(await push({ path: ['replayed'], loc: 0, data: 'newer' })).toBe(true)
    await master.answer(old.frame)
    expect(await readFile(join(folder(), 'replayed'), 'utf8')).toBe('newer')
  })

  test('needs a path of plain names, and a position in the file', async () => {
    const before = filesBelow(folder())
    const wrong = [
      { path: 'a', loc: 0, data: 'x' },
      { path: [], loc: 0, data: 'x' },
      { path: ['..', '..', '..', 'p'], loc: 0, data: 'x' },
      { path: ['a/../../b'], loc: 0, data: 'x' },
      { path: ['', 'etc', 'passwd'], loc: 0, data: 'x' },
      { path: ['n', 5], loc: 0, data: 'x' },
      { path: ['n'], loc: -1, data: 'x' },
      { path: ['n'], loc: 0.5, data: 'x' },
      { path: ['n'], loc: '0', data: 'x' },
      { path: ['n'], loc: 0 },
      { path: ['n'], loc: 0, data: 5 },
    ]
    for (const load of wrong) expect(await push(load), JSON.stringify(load)).toBe(false)
    expect(filesBelow(folder())).toEqual(before)
  })

  test('stays inside its folder while a folder is swapped for a link', async () => {
    await push({ path: ['swapped', 'x'], loc: 0, data: 'x' })
    const place = join(folder(), 'swapped')
    const outside = join(master.root, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'x'), 'untouched')
    let isRunning = true
    const swapping = (async () => {
      const aside = join(folder(), 'aside')
      const steps = [
        () => rename(place, aside),
        () => symlink(outside, place),
        () => unlink(place),
        () => rename(aside, place),
      ]
      // A push may have made the folder anew meanwhile.
      while (isRunning) for (const step of steps) await step().catch(() => {})
    })()
    for (let count = 0; count < 300; count++) {
      await push({ path: ['swapped', 'x'], loc: 0, data: 'pushed' })
      await push({ path: ['swapped', `new${count}`], loc: 0, data: 'pushed' })
    }
    isRunning = false
    await swapping
    expect(await readFile(join(outside, 'x'), 'utf8')).toBe('untouched')
    expect(await readdir(outside)).toEqual(['x'])
  })

  test('is refused where file_recv is off, which it is by default', async () => {
    const closed = await InProcessMaster.open()
    const other = await Peer.named('wire1')
    await closed.file('wire1', other.key.publicKey)
    await other.signIn((frame) => closed.answer(frame))
    const request = other.seal({ cmd: '_file_recv', path: ['a'], loc: 0, data: 'x', size: 1 })
    expect(request.open(await closed.answer(request.frame))).toBe(false)
    await closed.close()
  })
})
