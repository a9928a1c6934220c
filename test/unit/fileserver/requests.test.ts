import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import promises, { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FileServer } from '../../../core/fileserver/index.ts'
import { readFolder } from '../../../plugins/fileserver/_roots/folder.ts'
import { FileRoots } from '../../harness/file-roots.ts'
import { quietLog } from '../../harness/log.ts'
import { SLOW } from '../../harness/slow.ts'

let roots: FileRoots

beforeEach(async () => {
  roots = await FileRoots.make()
})
afterEach(() => roots.remove())

type Ask = Awaited<ReturnType<FileRoots['serve']>>
interface Piece {
  readonly data: Buffer | ''
  readonly dest: string
  readonly gzip?: number
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

async function whole(ask: Ask, load: Readonly<Record<string, unknown>>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  for (let loc = 0; ; ) {
    const { data, dest, gzip } = (await ask('_serve_file', { ...load, loc })) as Piece
    if (dest === '') return undefined
    if (data.length === 0 || data === '') return Buffer.concat(pieces)
    pieces.push(gzip ? gunzipSync(data) : data)
    loc += pieces.at(-1)!.length
  }
}

describe('a file', () => {
  test('is sent piece by piece, compressed or not', SLOW, async () => {
    const content = Buffer.alloc(5000, 'zeile äöü\n')
    await roots.write('salt/dir/text', content)
    const ask = await roots.serve()
    expect(await whole(ask, { path: 'dir/text' })).toEqual(content)
    expect(await whole(ask, { path: 'dir/text', gzip: 5 })).toEqual(content)
    const first = (await ask('_serve_file', { path: 'dir/text', loc: 0, gzip: 99 })) as Piece
    expect(first).toMatchObject({ dest: 'dir/text', gzip: 9 })
  })

  test('that is empty has a dest and no data, one that does not exist has neither', async () => {
    await roots.write('salt/empty', '')
    const ask = await roots.serve()
    expect(await ask('_serve_file', { path: 'empty', loc: 0 })).toEqual({
      data: Buffer.alloc(0),
      dest: 'empty',
    })
    expect(await ask('_serve_file', { path: 'nothing', loc: 0 })).toEqual({ data: '', dest: '' })
    expect(await ask('_file_hash', { path: 'nothing' })).toBe('')
    expect(await ask('_file_hash_and_stat', { path: 'nothing' })).toEqual(['', null])
    expect(await ask('_file_find', { path: 'nothing' })).toEqual({ path: '', rel: '' })
  })

  test.each([-1, 0.5, '0', null, undefined, 2 ** 60, Number.NaN, []])('%j has no dest', async (loc) => {
    const ask = await roots.serve()
    const answer = (await ask('_serve_file', { path: 'file', loc })) as Piece
    expect(answer.data.length).toBe(0)
  })

  test('is described as in Salt', async () => {
    const ask = await roots.serve()
    const found = (await ask('_file_find', { path: './file' })) as { stat: number[] }
    expect(found).toMatchObject({ path: join(roots.base, 'file'), rel: 'file', back: 'roots' })
    expect(found.stat).toHaveLength(10)
    expect([found.stat[0]! & 0o170000, found.stat[6]]).toEqual([0o100000, 'in base'.length])
    const hash = { hash_type: 'sha256', hsum: sha256('in base') }
    expect(await ask('_file_hash', { path: 'file' })).toEqual(hash)
    const both = (await ask('_file_hash_and_stat', { path: 'file' })) as [unknown, number[]]
    const withoutReadTime = (stat: number[]) => stat.toSpliced(7, 1)
    expect([both[0], withoutReadTime(both[1])]).toEqual([hash, withoutReadTime(found.stat)])
    const md5 = await roots.serve({ hash_type: 'md5' })
    expect(await md5('_file_hash', { path: 'file' })).toMatchObject({ hash_type: 'md5' })
  })

  test('that is changed has another hash at once, even in the same second and of the same size', async () => {
    const ask = await roots.serve()
    await roots.age('salt/file')
    for (const content of ['in base', 'in bose', 'in bise']) {
      await roots.write('salt/file', content)
      expect(await ask('_file_hash', { path: 'file' })).toMatchObject({ hsum: sha256(content) })
    }
  })

  test('may be named with its environment, or after a |, unless a file has exactly that name', async () => {
    await roots.write('dev/file', 'in dev')
    await roots.write('salt/a?saltenv=dev', 'odd')
    await roots.write('salt/|b', 'pipe')
    const ask = await roots.serve({
      file_roots: { base: [roots.base], dev: [join(roots.folder, 'dev')] },
    })
    expect(await whole(ask, { path: 'file?saltenv=dev' })).toEqual(Buffer.from('in dev'))
    expect(await whole(ask, { path: 'a?saltenv=dev' })).toEqual(Buffer.from('odd'))
    expect(await whole(ask, { path: '|b' })).toEqual(Buffer.from('pipe'))
    expect(await whole(ask, { path: '|file' })).toEqual(Buffer.from('in base'))
    expect(await whole(ask, { path: '|file?saltenv=dev' })).toBeUndefined()
  })

  test('comes from the first of several roots that has it', async () => {
    await roots.write('more/file', 'later')
    await roots.write('more/other', 'only here')
    const ask = await roots.serve({ file_roots: { base: [roots.base, join(roots.folder, 'more')] } })
    expect(await whole(ask, { path: 'file' })).toEqual(Buffer.from('in base'))
    expect(await whole(ask, { path: 'other' })).toEqual(Buffer.from('only here'))
    expect(await ask('_file_list')).toEqual(['file', 'other'])
  })

  test('is not served from a pipe or a socket, which do not block', async () => {
    execFileSync('mkfifo', [join(roots.base, 'pipe')])
    const ask = await roots.serve()
    expect(await whole(ask, { path: 'pipe' })).toBeUndefined()
    expect(await ask('_file_list')).toEqual(['file'])
  })
})

describe('environments', () => {
  test('are those of file_roots; one that does not exist is empty', async () => {
    const ask = await roots.serve({ file_roots: { dev: ['/nowhere'], base: [roots.base] } })
    expect(await ask('_file_envs')).toEqual(['base', 'dev'])
    for (const saltenv of ['dev', 'other', '', 5, null, ['base'], '__proto__', 'constructor']) {
      expect(await ask('_file_list', { saltenv })).toEqual([])
      expect(await ask('_symlink_list', { saltenv })).toEqual({})
      expect(await whole(ask, { path: 'file', saltenv })).toBeUndefined()
    }
  })

  test('CVE-2020-11652: __env__ stands for all others whose names are plain', async () => {
    await roots.write('envs/qa/file', 'in qa')
    const ask = await roots.serve({
      file_roots: { base: [roots.base], __env__: [join(roots.folder, 'envs', '__env__')] },
    })
    expect(await whole(ask, { path: 'file', saltenv: 'qa' })).toEqual(Buffer.from('in qa'))
    expect(await ask('_file_list', { saltenv: 'qa' })).toEqual(['file'])
    for (const saltenv of ['../salt-secret', '..', 'qa/../../salt-secret', '.', 'qa\0', '$&', '/etc']) {
      expect(await whole(ask, { path: 'file', saltenv })).toBeUndefined()
      expect(await ask('_file_list', { saltenv })).toEqual([])
    }
  })
})

describe('lists', () => {
  beforeEach(async () => {
    await roots.write('salt/web/a.conf', '')
    await roots.write('salt/web/.git/HEAD', '')
    await roots.write('salt/website/b.conf', '')
    await mkdir(join(roots.base, 'web', 'empty', 'inner'), { recursive: true })
  })

  test('contain files, folders and empty folders, sorted, below a prefix', async () => {
    const ask = await roots.serve()
    expect(await ask('_file_list')).toEqual(['file', 'web/.git/HEAD', 'web/a.conf', 'website/b.conf'])
    expect(await ask('_dir_list')).toEqual(['web', 'web/.git', 'web/empty', 'web/empty/inner', 'website'])
    expect(await ask('_file_list_emptydirs')).toEqual(['web/empty/inner'])
    expect(await ask('_file_list', { prefix: '/web/' })).toEqual([
      'web/.git/HEAD',
      'web/a.conf',
      'website/b.conf',
    ])
    expect(await ask('_file_list', { prefix: 5 })).toHaveLength(4)
  })

  test('leave out lost+found', async () => {
    await roots.write('salt/lost+found/piece', 'x')
    const ask = await roots.serve()
    expect(await ask('_file_list')).not.toContain('lost+found/piece')
    expect(await ask('_dir_list')).not.toContain('lost+found')
  })

  test('leave out ignored files, and so do all other requests', async () => {
    const ask = await roots.serve({
      file_ignore_glob: ['*/.git/*', '*/.git'],
      file_ignore_regex: ['(?i)SITE/', 'empty$'],
    })
    expect(await ask('_file_list')).toEqual(['file', 'web/a.conf'])
    expect(await ask('_dir_list')).toEqual(['web', 'web/empty/inner', 'website'])
    expect(await whole(ask, { path: 'web/.git/HEAD' })).toBeUndefined()
    expect(await whole(ask, { path: 'website/b.conf' })).toBeUndefined()
  })

  test('are refused, and files too, if a backend has an expression that cannot be used', async () => {
    const ask = await roots.serve({ file_ignore_regex: '(' })
    for (const cmd of ['_file_list', '_symlink_list', '_file_hash'])
      await expect(ask(cmd, { path: 'file' }), cmd).rejects.toThrow('cannot open its backend roots')
    expect(await ask('_file_envs')).toEqual([]) // what else a minion is told with it goes on
    expect(roots.logged.join()).toMatch(
      /^error .* cannot open its backend roots: The regular expression '\('/,
    )
  })

  test('are served without a backend that only Python Salt has', async () => {
    const ask = await roots.serve({ fileserver_backend: ['gitfs', 'roots'] })
    expect(await ask('_file_list')).toContain('file')
    expect(await ask('_file_hash', { path: 'nothing' })).toBe('')
    expect(roots.logged).toEqual([
      expect.stringMatching(/^error The backend gitfs of fileserver_backend is not built into/),
    ])
  })

  test.each([['gitfs'], ['roots', 'rots']])('are refused with the backends %j', async (...backends) => {
    const ask = await roots.serve({ fileserver_backend: backends })
    await expect(ask('_file_list')).rejects.toThrow('cannot open its backend')
  })

  test('are refused if the system does not let a directory be read, and name it', async () => {
    const long = join(roots.folder, 'x'.repeat(300)) // unlike EACCES, also for root
    const ask = await roots.serve({ file_roots: { base: [roots.base, long] } })
    await expect(ask('_file_list')).rejects.toThrow('ENAMETOOLONG')
    const within = [roots.base]
    await expect(readFolder(join(roots.base, 'x'.repeat(300)), within, undefined)).rejects.toThrow()
    for (const gone of ['nothing', 'file/below'])
      expect(await readFolder(join(roots.base, gone), within, undefined)).toBeUndefined()
  })

  test('are current at once when a file is added, removed or renamed', async () => {
    const ask = await roots.serve()
    await roots.age('salt/web', 'salt/website', 'salt')
    expect(await ask('_file_list')).toHaveLength(4)
    await roots.write('salt/web/new', '')
    expect(await ask('_file_list', { prefix: 'web/n' })).toEqual(['web/new'])
    await rename(join(roots.base, 'website'), join(roots.base, 'elsewhere'))
    expect(await ask('_file_list')).toContain('elsewhere/b.conf')
    await rm(join(roots.base, 'web', 'new'))
    expect(await ask('_file_list')).toEqual(['elsewhere/b.conf', 'file', 'web/.git/HEAD', 'web/a.conf'])
  })

  test('are made anew when a runner, in another process, clears them', async () => {
    const ask = await roots.serve()
    await roots.age('salt', 'salt/web', 'salt/website')
    const before = await ask('_file_list')
    const config = roots.config()
    await mkdir(config.cachedir)
    const other = await FileServer.open(config, quietLog)
    expect(await other.clearListCache(['base', 'dev'])).toEqual({ roots: ['base'] })
    expect(await other.clearListCache(['dev'])).toEqual({})
    expect(await other.clearListCache(undefined, ['-roots'])).toEqual({})
    expect(await ask('_file_list')).toEqual(before)
  })

  test('of concurrent requests are made once, and each has the files of its time', async () => {
    const ask = await roots.serve()
    const early = Array.from({ length: 50 }, () => ask('_file_list'))
    await roots.write('salt/late', '')
    const late = await Promise.all(Array.from({ length: 50 }, () => ask('_file_list')))
    await Promise.all(early)
    for (const list of late) expect(list).toContain('late')
  })

  test(
    'of many files are made from cached folders that have not changed, without blocking',
    SLOW,
    async () => {
      for (let folder = 0; folder < 40; folder++) {
        const place = join(roots.base, 'many', String(folder))
        await mkdir(place, { recursive: true })
        await Promise.all(Array.from({ length: 50 }, (_, name) => writeFile(join(place, `f${name}`), '')))
        await roots.age(`salt/many/${folder}`)
      }
      await roots.age('salt/many')
      const ask = await roots.serve()
      expect(await ask('_file_list')).toHaveLength(2004)
      const reads = vi.spyOn(promises, 'readdir')
      syncBuiltinESMExports()
      let turns = 0
      const turn = () => {
        turns++
        next = setImmediate(turn)
      }
      let next = setImmediate(turn)
      for (let count = 0; count < 10; count++) await ask('_file_list')
      clearImmediate(next)
      const folders = reads.mock.calls.length
      reads.mockRestore()
      syncBuiltinESMExports()
      expect(folders).toBeLessThan(10 * 40)
      expect(turns).toBeGreaterThan(10)
    },
  )
})

describe('links', () => {
  beforeEach(async () => {
    await roots.write('salt/sub/real', 'real')
    await roots.write('dev/other', 'in dev')
    await roots.link('salt/to-file', 'sub/real')
    await roots.link('salt/to-dir', 'sub')
    await roots.link('salt/dangling', 'sub/nothing')
    await roots.link('salt/to-dev', '../dev')
    await roots.link('salt/out', '../secret')
    await roots.link('salt/out-dir', '../salt-secret')
    await roots.link('salt/sub/circle', '..')
  })
  const both = () => ({ base: [roots.base], dev: [join(roots.folder, 'dev')] })

  test('are followed within the roots of all environments, by default', async () => {
    const ask = await roots.serve({ file_roots: both() })
    expect(await ask('_file_list')).toEqual(['file', 'sub/real', 'to-dev/other', 'to-dir/real', 'to-file'])
    expect(await ask('_symlink_list')).toEqual({
      'to-file': 'sub/real',
      'to-dir': 'sub',
      dangling: 'sub/nothing',
      'sub/circle': '..',
      'to-dir/circle': '..',
    })
    expect(await whole(ask, { path: 'to-file' })).toEqual(Buffer.from('real'))
    expect(await whole(ask, { path: 'to-dev/other' })).toEqual(Buffer.from('in dev'))
    for (const path of ['out', 'out-dir/file', 'out-dir/x/file', 'sub/circle/out'])
      expect(await whole(ask, { path }), path).toBeUndefined()
  })

  test('may lead to directories that fileserver_linked_dirs names', async () => {
    const ask = await roots.serve({ fileserver_linked_dirs: [join(roots.folder, 'dev')] })
    expect(await whole(ask, { path: 'to-dev/other' })).toEqual(Buffer.from('in dev'))
    expect(await whole(ask, { path: 'out' })).toBeUndefined()
    const without = await roots.serve()
    expect(await whole(without, { path: 'to-dev/other' })).toBeUndefined()
    expect(await without('_file_list')).not.toContain('to-dev/other')
  })

  test('stay in their own root with fileserver_followsymlinks: false, and are listed nevertheless', async () => {
    const ask = await roots.serve({ file_roots: both(), fileserver_followsymlinks: false })
    expect(await ask('_file_list')).toEqual(['file', 'sub/real', 'to-file'])
    expect(await ask('_dir_list')).toEqual(['sub', 'sub/circle', 'to-dir'])
    expect(Object.keys((await ask('_symlink_list')) as object).sort()).toEqual([
      'dangling',
      'out',
      'out-dir',
      'sub/circle',
      'to-dev',
      'to-dir',
      'to-file',
    ])
    expect(await whole(ask, { path: 'to-file' })).toEqual(Buffer.from('real'))
    expect(await whole(ask, { path: 'to-dev/other' })).toBeUndefined()
  })

  test('are left out of lists with fileserver_ignoresymlinks: true', async () => {
    const ask = await roots.serve({ fileserver_ignoresymlinks: true })
    expect(await ask('_file_list')).toEqual(['file', 'sub/real'])
    expect(await ask('_symlink_list')).toEqual({})
  })

  test('can be a root themselves', async () => {
    await roots.link('current', 'salt')
    const ask = await roots.serve({ file_roots: { base: [join(roots.folder, 'current')] } })
    expect(await whole(ask, { path: 'file' })).toEqual(Buffer.from('in base'))
    expect(await ask('_file_list', { prefix: 'f' })).toEqual(['file'])
  })
})
