import {
  chmod,
  chown,
  lchown,
  link,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Context } from 'salt-ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { localFileServer, openFileClient } from '../../../core/fileserver/index.ts'
import * as cp from '../../../modules/cp.ts'
import { FileRoots } from '../../harness/file-roots.ts'
import { filesBelow } from '../../harness/files.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let roots: FileRoots
let folder: string
let server: Server
let url: string
const requests: IncomingMessage[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request)
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    if (pathname === '/moved') return response.writeHead(302, { location: '/text' }).end()
    if (pathname === '/to-file') return response.writeHead(302, { location: 'file:///etc/passwd' }).end()
    if (pathname === '/round') return response.writeHead(302, { location: '/round' }).end()
    if (pathname === '/elsewhere')
      return response.writeHead(302, { location: `http://localhost:${port()}/text` }).end()
    if (request.headers['if-none-match'] === '"1"') return response.writeHead(304).end()
    if (pathname === '/text') return response.writeHead(200, { etag: '"1"' }).end('from the web')
    if (pathname === '/broken') {
      response.writeHead(200, { 'content-length': 1000 })
      return response.write('half', () => response.destroy())
    }
    return response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${port()}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const port = () => (server.address() as AddressInfo).port

beforeEach(async () => {
  requests.length = 0
  folder = await temporaryFolder('salt-cp-')
  roots = await FileRoots.make()
  await roots.write('salt/dir/a', 'a')
  await roots.write('salt/dir/sub/b', 'b')
  await roots.write('salt/directory/c', 'c')
  await roots.write('dev/file', 'in dev')
  await mkdir(join(roots.base, 'dir', 'empty'))
})
afterEach(async () => {
  await removeFolder(folder)
  await roots.remove()
})

function context(minion: object = {}): Context {
  const config = roots.config({
    file_roots: { base: [roots.base], dev: [join(roots.folder, 'dev')] },
    cachedir: join(folder, 'cache'),
  })
  const log = fakeContext().log
  const files = openFileClient({ ask: localFileServer(config, log).ask, cachedir: config.cachedir })
  const within: Context = fakeContext({
    opts: config,
    minion: { files, ...minion } as unknown as Context['minion'],
    call: (async (_name: string, given: Record<string, unknown>) =>
      call(cp.cache_file, given, within)) as unknown as Context['call'],
  })
  return within
}
const run = (fn: AnyFn, given: Record<string, unknown> = {}, within = context()) => call(fn, given, within)
const cached = (...path: string[]) => join(folder, 'cache', ...path)

describe('from the file server', () => {
  test('get_file writes a file, into a folder under its own name', async () => {
    const dest = join(folder, 'x')
    expect(await run(cp.get_file, { path: 'salt://file', dest })).toBe(dest)
    expect(await readFile(dest, 'utf8')).toBe('in base')
    expect(await run(cp.get_file, { path: 'salt://dir/a', dest: folder })).toBe(join(folder, 'a'))
    expect(await run(cp.get_file, { path: 'salt://file?saltenv=dev', dest })).toBe(dest)
    expect(await readFile(dest, 'utf8')).toBe('in dev')
  })

  test('get_file makes folders only with makedirs, and reports a missing file as Salt does', async () => {
    const dest = join(folder, 'new', 'x')
    expect(await run(cp.get_file, { path: 'salt://file', dest })).toBe(false)
    expect(await run(cp.get_file, { path: 'salt://file', dest, makedirs: true })).toBe(dest)
    expect(await run(cp.get_file, { path: 'salt://nothing', dest })).toBe('')
    await expect(run(cp.get_file, { path: '/etc/passwd', dest })).rejects.toThrow(
      'Unsupported path: /etc/passwd',
    )
    await expect(run(cp.get_file, { path: 'salt://file', dest: 'relative' })).rejects.toThrow('absolute')
  })

  test('get_file and get_dir render their paths with template', async () => {
    const template = 'jinja'
    const dest = join(folder, '{{ saltenv }}')
    expect(await run(cp.get_file, { path: "salt://{{ 'fi' ~ 'le' }}", dest, template })).toBe(
      join(folder, 'base'),
    )
    const places = await run(cp.get_dir, { path: 'salt://d{{ "i" }}r/sub', dest: folder, template })
    expect(places).toEqual([join(folder, 'sub/b')])
    await expect(run(cp.get_file, { path: 'salt://file', dest, template: 'mako' })).rejects.toThrow(
      'The template engine mako is not available: salt-ts renders templates of Jinja.',
    )
  })

  test('get_template renders a file with the variables of the caller, and reports the line of an error', async () => {
    const dest = join(folder, 'copy')
    expect(await run(cp.get_template, { path: 'salt://dir/a', dest })).toBe(dest)
    expect(await readFile(dest, 'utf8')).toBe('a')
    expect((await stat(dest)).mode & 0o777).toBe(0o600)
    await chmod(dest, 0o640)
    expect(await run(cp.get_template, { path: 'salt://dir/a', dest })).toBe(dest)
    expect((await stat(dest)).mode & 0o777).toBe(0o640)
    expect(await run(cp.get_template, { path: 'salt://nothing', dest })).toBe('')
    expect(await run(cp.get_template, { path: 'salt://dir/a', dest: join(dest, 'x', 'y') })).toBe('')
    await roots.write('salt/lib.jinja', '{% macro of(x) %}<{{ x }}>{% endmacro %}')
    const text = "{% from 'lib.jinja' import of %}env={{ saltenv }}\n{{ of(who) }} {{ role }}\n"
    await roots.write('salt/marks', text)
    const given = { path: 'salt://marks', dest, kwargs: { role: 'web' } }
    await expect(run(cp.get_template, given)).rejects.toThrow(
      "Jinja variable 'who' is undefined; line 1 of lib.jinja",
    )
    expect(await readFile(dest, 'utf8')).toBe('a')
    expect(await run(cp.get_template, { ...given, kwargs: { role: 'web', who: 'me' } })).toBe(dest)
    expect(await readFile(dest, 'utf8')).toBe('env=base\n<me> web\n')
  })

  test('get_dir copies a folder with its empty folders, and no folder of a longer name', async () => {
    const dest = join(folder, 'all')
    const places = ['dir/a', 'dir/empty', 'dir/sub/b'].map((path) => join(dest, path))
    expect(await run(cp.get_dir, { path: 'salt://dir/', dest })).toEqual(places)
    const slashed = places.map((place) => place.replace('/all/', '/all//'))
    expect(await run(cp.get_dir, { path: 'salt://dir/', dest: `${dest}/` })).toEqual(slashed)
    expect((await readdir(dest, { recursive: true })).sort()).toEqual([
      ...['dir', 'dir/a', 'dir/empty', 'dir/sub', 'dir/sub/b'],
    ])
  })

  test('get_dir writes nothing outside its folder, whatever paths a master lists', async () => {
    const evil = ['dir/../../evil', 'dir//../x', 'dir/\0', 'dir/ok']
    const ask = async ({ cmd, path }: Record<string, unknown>) =>
      cmd === '_file_list'
        ? evil
        : cmd === '_file_hash'
          ? { hash_type: 'md5', hsum: 'x' }
          : { data: '', dest: path }
    const files = openFileClient({ ask, cachedir: cached() })
    const before = filesBelow(folder)
    await run(cp.get_dir, { path: 'salt://dir', dest: join(folder, 'd') }, context({ files })).catch(() => {})
    expect(filesBelow(folder).filter((line) => !line.startsWith(join(folder, 'd')))).toEqual(before)
  })

  test('the cache is filled, asked and listed', async () => {
    const file = cached('files', 'base', 'file')
    expect(await run(cp.is_cached, { path: 'salt://file' })).toBe('')
    expect(await run(cp.cache_file, { path: 'salt://file' })).toBe(file)
    expect(await run(cp.is_cached, { path: 'salt://file' })).toBe(file)
    expect(await run(cp.cache_dest, { url: 'salt://file' })).toBe(file)
    expect(await run(cp.cache_files, { paths: 'salt://dir/a,salt://no' })).toEqual([
      cached('files', 'base', 'dir', 'a'),
      false,
    ])
    const dir = await run(cp.cache_dir, { path: 'salt://dir', include_empty: true, exclude_pat: 'E@/b$' })
    expect(dir).toEqual([cached('files', 'base', 'dir', 'a'), cached('files', 'base', 'dir', 'empty')])
    expect(await run(cp.cache_local_file, { path: join(roots.folder, 'secret') })).toBe(
      cached('localfiles', roots.folder, 'secret'),
    )
    expect(await run(cp.cache_master, { saltenv: 'dev' })).toEqual([cached('files', 'dev', 'file')])
    expect(await run(cp.list_minion)).toEqual(
      [cached('files', 'base', 'dir', 'a'), file, cached('localfiles', roots.folder, 'secret')].sort(),
    )
    expect(await run(cp.get_file_str, { path: 'salt://file' })).toBe('in base')
    expect(await run(cp.get_file_str, { path: 'salt://nothing' })).toBe(false)
  })

  test('files are listed, hashed and inspected', async () => {
    await roots.write('salt/web/init.sls', '')
    await roots.write('salt/top.sls', '')
    expect(await run(cp.envs)).toEqual(['base', 'dev'])
    expect(await run(cp.list_master, { prefix: 'dir/' })).toEqual(['dir/a', 'dir/sub/b', 'directory/c'])
    expect(await run(cp.list_master_dirs)).toContain('dir/sub')
    expect(await run(cp.list_master_symlinks)).toEqual({})
    expect(await run(cp.list_states)).toEqual(['top', 'web'])
    const hash = await run(cp.hash_file, { path: 'salt://file' })
    expect(await run(cp.hash_file, { path: join(roots.base, 'file') })).toEqual(hash)
    expect(await run(cp.hash_file, { path: 'salt://nothing' })).toBe('')
    expect(await run(cp.hash_file, { path: '/nothing' })).toEqual([{}, null])
    expect(await run(cp.stat_file, { path: 'salt://file' })).toMatch(/^0[0-7]{3}$/)
    expect(await run(cp.stat_file, { path: 'salt://nothing' })).toBeNull()
    expect(await run(cp.stat_file, { path: '/etc/passwd', octal: false })).toBe(0o100644)
  })
})

describe('from the web', () => {
  const place = () => cached('extrn_files', 'base', `127.0.0.1${port()}`)

  test('get_url fetches into the cache, to a place, or as content', async () => {
    expect(await run(cp.get_url, { path: `${url}/text` })).toBe(join(place(), 'text'))
    expect(await readFile(join(place(), 'text'), 'utf8')).toBe('from the web')
    expect(await run(cp.get_url, { path: `${url}/moved?a=b` })).toBe(join(place(), 'moved-a=b'))
    expect(await run(cp.get_url, { path: `${url}/text`, dest: `${folder}/` })).toBe(join(folder, 'text'))
    expect(await run(cp.get_url, { path: `${url}/text`, dest: join(folder, 'no', 'x') })).toBe('')
    expect(
      await cp.get_url.run({ path: `${url}/text`, dest: null, makedirs: false } as never, context()),
    ).toBe('from the web')
  })

  test.each([
    ['/no', 'HTTP error 404 reading'],
    ['/to-file', 'redirects to file:, which is not followed'],
    ['/round', 'redirects more than 10 times'],
    ['/broken', /^Error reading http.*\/broken: aborted/],
  ])('%s leaves no file in the cache', async (path, reason) => {
    await expect(run(cp.cache_file, { path: url + path })).rejects.toThrow(reason)
    expect(filesBelow(folder).filter((line) => line.includes('/no ') || line.includes('.tmp'))).toEqual([])
  })

  test('a password is sent to its own server only, and is in no path and no error', async () => {
    const secret = url.replace('://', '://me:c4n4ry@')
    const found = await run(cp.cache_file, { path: `${secret}/elsewhere` })
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from('me:c4n4ry').toString('base64')}`,
      undefined,
    ])
    const failure = await run(cp.cache_file, { path: `${secret}/no` }).catch(String)
    expect(`${found} ${failure} ${filesBelow(folder)}`).not.toContain('c4n4ry')
  })

  test('with use_etag a file is fetched again only if the server has another', async () => {
    for (let count = 0; count < 2; count++)
      expect(await run(cp.cache_file, { path: `${url}/text`, use_etag: true })).toBe(join(place(), 'text'))
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"'])
    expect(await readFile(join(place(), 'text'), 'utf8')).toBe('from the web')
  })
})

describe('source_hash', () => {
  const sum = '4b1fbc54eb5d27e16bbbdfd5ea0b7d0b0c0c8c5b'

  test('keeps a cached file with the digest, and refuses a downloaded one without it', async () => {
    const path = `${url}/text`
    await run(cp.cache_file, { path })
    const { hsum } = (await run(cp.hash_file, {
      path: cached('extrn_files', 'base', `127.0.0.1${port()}`, 'text'),
    })) as {
      hsum: string
    }
    expect(await run(cp.cache_file, { path, source_hash: `sha256=${hsum.toUpperCase()}` })).toContain('text')
    expect(requests).toHaveLength(1)
    await expect(run(cp.get_url, { path, source_hash: sum })).rejects.toThrow(
      'does not have the sha1 of source_hash',
    )
    expect(await readFile(join(cached('extrn_files', 'base', `127.0.0.1${port()}`), 'text'), 'utf8')).toBe(
      'from the web',
    )
  })

  test.each([
    '../../../etc/cron.d/x',
    'file:///etc/passwd',
    'salt://hash',
    '/etc/passwd',
    'sha256=',
    'md5=..',
    `md5=${'a'.repeat(64)}`,
    '',
  ])('CVE-2021-21996: must be a digest, not %j', async (source_hash) => {
    const before = filesBelow(folder)
    for (const fn of [cp.get_url, cp.cache_file])
      await expect(run(fn, { path: `${url}/text`, source_hash })).rejects.toThrow(
        'must be a hexadecimal digest',
      )
    expect(filesBelow(folder)).toEqual(before)
  })
})

test.each(['/../../../../x', '/a/../../../../x', '/%2e%2e/../../x'])(
  'CVE-2021-21996: a URL with the path %s cannot be cached',
  async (path) => {
    await expect(run(cp.cache_file, { path: url + path })).rejects.toThrow(
      'cannot be cached: its path leads out of the cache',
    )
    await expect(run(cp.cache_dest, { url: url + path })).rejects.toThrow(
      'cannot be cached: its path leads out of the cache',
    )
    expect(await run(cp.is_cached, { path: url + path })).toBe('')
    expect(await readdir(folder)).toEqual([])
  },
)

test('other schemes are refused by name, and paths must be absolute', async () => {
  await expect(run(cp.get_url, { path: 'ftp://h/x' })).rejects.toThrow('cannot be fetched from ftp://')
  await expect(run(cp.get_url, { path: 'etc/passwd' })).rejects.toThrow("Path 'etc/passwd' is not absolute")
  expect(await run(cp.get_url, { path: 'file:///etc/passwd' })).toBe('/etc/passwd')
})

describe('to the master', () => {
  test('push sends a file piece by piece, under its path or another', async () => {
    const sent: Record<string, unknown>[] = []
    const within = () => context({ request: async (load: object) => sent.push({ ...load }) > 0 })
    const path = join(folder, 'x')
    await writeFile(path, 'x'.repeat(300_000))
    expect(await run(cp.push, { path }, within())).toBe(true)
    expect(sent.map(({ loc, data }) => [loc, (data as Buffer).length])).toEqual([
      ...Array.from({ length: 292 }, (_, index) => [index * 1024, 1024]),
      [292 * 1024, 300_000 - 292 * 1024],
    ])
    expect(sent[0]).toMatchObject({
      cmd: '_file_recv',
      id: 'm1',
      path: path.split('/').filter(Boolean),
      size: 300_000,
    })
    await writeFile(path, '')
    sent.length = 0
    expect(await run(cp.push, { path, upload_path: '/new/name', remove_source: true }, within())).toBe(true)
    expect(sent).toEqual([expect.objectContaining({ path: ['new', 'name'], loc: 0, data: Buffer.alloc(0) })])
    expect(await readdir(folder)).not.toContain('x')
  })

  test.each([
    [{ refused: 'it accepts no files' }, 'The master did not accept /etc/hosts: it accepts no files.'],
    [
      false,
      'The master did not accept /etc/hosts: set file_recv: True in its configuration, and check file_recv_max_size.',
    ],
    [
      {},
      'The master did not accept /etc/hosts: set file_recv: True in its configuration, and check file_recv_max_size.',
    ],
  ])('push fails where the master answers %j', async (answer, reason) => {
    const asked: object[] = []
    const refusing = context({ request: async (load: object) => asked.push(load) && answer })
    const pushed = run(cp.push, { path: '/etc/hosts', keep_symlinks: true }, refusing)
    await expect(pushed).rejects.toThrow(reason)
    expect(asked).toEqual([expect.objectContaining({ cmd: '_file_recv', reasons: true })])
  })

  test('push fails for a path that is not an absolute path of a file', async () => {
    for (const path of ['etc/hosts', '/etc/../etc/hosts'])
      await expect(run(cp.push, { path })).rejects.toThrow(`${path} must be an absolute path without '..'.`)
    for (const path of ['/etc', '/nothing'])
      await expect(run(cp.push, { path })).rejects.toThrow(`There is no file ${path} to push.`)
    const upload = run(cp.push, { path: '/etc/hosts', upload_path: '../../x' })
    await expect(upload).rejects.toThrow("/../../x must be an absolute path without '..'.")
  })

  test('push_dir sends the files of a folder whose names match', async () => {
    const sent: unknown[] = []
    const within = context({ request: async ({ path }: { path: string[] }) => sent.push(path.join('/')) > 0 })
    const given = { path: join(roots.base, 'dir'), glob: 'b*', upload_path: 'there' }
    expect(await run(cp.push_dir, given, within)).toBe(true)
    expect(sent).toEqual(['there/sub/b'])
    await symlink('..', join(roots.base, 'dir', 'above'))
    sent.length = 0
    await run(cp.push_dir, { ...given, glob: '*' }, within)
    expect(sent.toSorted()).toEqual(['there/a', 'there/sub/b'])
    const none = run(cp.push_dir, { ...given, glob: 'nothing' }, within)
    await expect(none).rejects.toThrow('There is no file that matches nothing below')
  })
})

test('recv and recv_chunked write the data that salt-cp sends', async () => {
  expect(await run(cp.recv, { files: { '/from/a': 'A', '/from/b': 'B' }, dest: folder })).toEqual({
    [join(folder, 'a')]: true,
    [join(folder, 'b')]: true,
  })
  expect(await run(cp.recv, { files: { '/from/a': 'A' }, dest: join(folder, 'no', 'x') })).toBe(
    'Destination unavailable',
  )
  expect(await run(cp.recv, { files: { '/from/a': 'A' }, dest: join(folder, 'no/') })).toBe(
    'Destination unavailable',
  )
  expect(await run(cp.recv, { files: { '/from/a': 'A' }, dest: 'name' })).toBe('Destination unavailable')
  const dest = join(folder, 'deep', 'file')
  const chunk = (text: string) => Buffer.from(text).toString('base64')
  expect(await run(cp.recv_chunked, { dest, chunk: chunk('one '), compressed: false, mode: 0o640 })).toBe(
    true,
  )
  expect(await run(cp.recv_chunked, { dest, chunk: chunk('two'), compressed: false, append: true })).toBe(
    true,
  )
  expect(await readFile(dest, 'utf8')).toBe('one two')
  const within = context()
  expect(await run(cp.recv_chunked, { dest, chunk: chunk('not zipped') }, within)).toMatch(/incorrect header/)
  expect(within.retcode).toBe(1)
})

test('recv and recv_chunked write nothing outside through a planted link, and unpack no bomb', {
  ...needs(ROOT),
  ...SLOW,
}, async () => {
  const strangers = join(folder, 'strangers')
  const precious = join(folder, 'precious')
  await mkdir(strangers)
  await chown(strangers, 65_534, 65_534)
  await writeFile(precious, 'precious')
  const planted = join(strangers, 'planted')
  await symlink(precious, planted)
  await lchown(planted, 65_534, 65_534)
  const second = join(strangers, 'second')
  await link(precious, second)
  for (const dest of [planted, second]) {
    for (const append of [false, true]) {
      const sent = { dest, chunk: Buffer.from('evil').toString('base64'), compressed: false, append }
      expect(await run(cp.recv_chunked, sent, context())).not.toBe(true)
    }
    expect(await run(cp.recv, { files: { x: 'evil' }, dest }, context())).toEqual({ [dest]: false })
  }
  expect(await readFile(precious, 'utf8')).toBe('precious')
  const bomb = gzipSync(Buffer.alloc(80 * 2 ** 20)).toString('base64')
  expect(await run(cp.recv_chunked, { dest: join(folder, 'bomb'), chunk: bomb }, context())).toMatch(
    /larger than/,
  )
})
