import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { headerOf, onlyFile, padding, TRAILER } from '../../../../modules/_docker/tar.ts'
import * as docker from '../../../../modules/dockermod.ts'
import { type AnyFn, call } from '../context.ts'
import { type Engine, engineContext, frame, openEngine } from './engine.ts'

const LINK = 2 ** 27
const FOLDER = 2 ** 31

let folder: string
let engine: Engine

beforeEach(async () => {
  ;({ folder, engine } = await openEngine())
  engine.containers.web = { Id: 'c1', State: { Running: true } }
})

const context = (overrides = {}) => engineContext(folder, overrides)
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, own = context()) => call(fn, given, own)
const at = (name: string) => join(folder, name)

const file = (name: string, content: string) => {
  const member = { name, kind: 'file', mode: 0o640, size: Buffer.byteLength(content), mtime: 1000 } as const
  return Buffer.concat([headerOf(member), Buffer.from(content), padding(member.size), TRAILER])
}
const told = (mode: number, linkTarget = '') => ({
  headers: {
    'x-docker-container-path-stat': Buffer.from(JSON.stringify({ mode, linkTarget })).toString('base64'),
  },
  content: '',
})

describe('docker.copy_from (a stand-in for Docker Engine)', () => {
  const copy = (given: object) =>
    ask(docker.copy_from, { name: 'web', source: '/etc/motd', dest: at('motd'), ...given })

  beforeEach(() => {
    engine.answers['HEAD /containers/web/archive'] = told(0o640)
    engine.answers['GET /containers/web/archive'] = { content: file('motd', 'hello\n') }
  })

  test('writes the file with its mode and time, also into a folder', async () => {
    expect(await copy({})).toBe(true)
    expect(readFileSync(at('motd'), 'utf8')).toBe('hello\n')
    expect(statSync(at('motd'))).toMatchObject({ mode: 0o100640, mtimeMs: 1_000_000 })
    mkdirSync(at('folder'))
    await copy({ dest: at('folder') })
    expect(readFileSync(at('folder/motd'), 'utf8')).toBe('hello\n')
  })

  test('makes folders, and replaces files, only on request', async () => {
    const dest = at('a/b/motd')
    await expect(copy({ dest })).rejects.toThrow(`Directory ${at('a/b')} does not exist`)
    await copy({ dest, makedirs: true })
    await expect(copy({ dest })).rejects.toThrow(
      `Destination path ${dest} already exists. Use overwrite=True to overwrite it`,
    )
    engine.answers['GET /containers/web/archive'] = { content: file('motd', 'new') }
    await copy({ dest, overwrite: true })
    expect(readFileSync(dest, 'utf8')).toBe('new')
    symlinkSync('/dev/null', at('null'))
    await expect(copy({ dest: at('null'), overwrite: true })).rejects.toThrow('is no regular file')
  })

  test('follows a link to a file', async () => {
    let asked = 0
    engine.hooks['HEAD /containers/web/archive'] = () => {
      engine.answers['HEAD /containers/web/archive'] =
        asked++ === 0 ? told(LINK + 0o777, '../srv/motd') : told(0o644)
    }
    await copy({})
    const paths = engine.asked
      .filter(({ path }) => path.endsWith('/archive'))
      .map(({ query }) => query.get('path'))
    expect(paths).toEqual(['/etc/motd', '/srv/motd', '/srv/motd'])
  })

  test('refuses what is no file, and a container that does not run', async () => {
    engine.answers['HEAD /containers/web/archive'] = told(FOLDER + 0o755)
    await expect(copy({})).rejects.toThrow('Source must be a regular file')
    engine.answers['HEAD /containers/web/archive'] = { status: 404 }
    await expect(copy({})).rejects.toThrow('Source file /etc/motd does not exist')
    await expect(copy({ source: 'motd' })).rejects.toThrow('Source path must be absolute')
    await expect(copy({ dest: 'motd' })).rejects.toThrow('Destination path must be absolute')
    engine.containers.web = { Id: 'c1', State: { Running: false } }
    await expect(copy({})).rejects.toThrow("Container 'web' is not running")
  })

  test('leaves nothing behind if the archive is not whole, or another one', async () => {
    const archive = file('motd', 'hello\n')
    engine.answers['GET /containers/web/archive'] = { content: archive.subarray(0, 514) }
    await expect(copy({})).rejects.toThrow(
      `/etc/motd cannot be copied from container 'web' to ${at('motd')}: the archive ends too early`,
    )
    const folder = headerOf({ name: 'a', kind: 'folder', mode: 0o755, size: 0, mtime: 0 })
    engine.answers['GET /containers/web/archive'] = { content: folder }
    await expect(copy({})).rejects.toThrow('it is no archive of one file')
    expect(readdirSync(at('.'))).toEqual(['docker.sock'])
  })
})

describe('docker.copy_to (a stand-in for Docker Engine)', () => {
  const copy = (given: object, own = context()) =>
    ask(docker.copy_to, { name: 'web', source: at('index.html'), dest: '/srv/index.html', ...given }, own)
  /** The words of the programs that were run, and what `test` and the others answer. */
  let ran: string[][]
  let codes: Record<string, number>

  beforeEach(() => {
    writeFileSync(at('index.html'), 'welcome')
    ran = []
    codes = { 'test -d /srv': 0, 'mkdir -p /srv/new': 0 }
    engine.answers['POST /containers/web/exec'] = { content: { Id: 'e1' } }
    engine.answers['POST /exec/e1/start'] = { content: frame(2, 'no space\n') }
    engine.hooks['POST /containers/web/exec'] = () => {
      const words = engine.asked.at(-1)!.body.Cmd as string[]
      ran.push(words)
      const ExitCode = codes[words.join(' ')] ?? (words[0] === 'sh' ? 0 : 1)
      engine.answers['GET /exec/e1/json'] = { content: { ExitCode } }
    }
  })
  const written = () => ran.at(-1)

  test('gives the file to a shell in the container', async () => {
    expect(await copy({})).toBe(true)
    expect(written()).toEqual(['sh', '-c', 'cat >"$0"', '/srv/index.html'])
    expect(engine.inputs).toEqual(['welcome'])
  })

  test('takes files of the file server, also into a folder', async () => {
    codes['test -d /srv/www'] = 0
    const own = context({ call: async () => at('index.html') })
    await copy({ source: 'salt://web/index.html', dest: '/srv/www' }, own)
    expect(written()!.at(-1)).toBe('/srv/www/index.html')
  })

  test('makes folders, and replaces files, only on request', async () => {
    const dest = '/srv/new/index.html'
    await expect(copy({ dest })).rejects.toThrow(
      "Directory /srv/new does not exist on docker container 'web'",
    )
    expect(await copy({ dest, makedirs: true })).toBe(true)
    codes['mkdir -p /srv/new'] = 1
    await expect(copy({ dest, makedirs: true })).rejects.toThrow(
      "Unable to create destination directory /srv/new in container 'web': no space",
    )
    codes['test -e /srv/index.html'] = 0
    await expect(copy({})).rejects.toThrow('Destination path /srv/index.html already exists.')
    expect(await copy({ overwrite: true })).toBe(true)
  })

  test('says why the file could not be written', async () => {
    codes['sh -c cat >"$0" /srv/index.html'] = 1
    await expect(copy({})).rejects.toThrow("/srv/index.html cannot be written in container 'web': no space")
  })

  test('refuses what is no file', async () => {
    await expect(copy({ source: folder })).rejects.toThrow('Source must be a regular file')
    await expect(copy({ source: at('none') })).rejects.toThrow(`Source file ${at('none')} does not exist`)
    await expect(copy({ source: 'none' })).rejects.toThrow('Source path must be absolute')
    await expect(copy({ dest: 'none' })).rejects.toThrow('Destination path must be absolute')
    await expect(copy({ exec_driver: 'nsenter' })).rejects.toThrow("not by 'nsenter'")
  })
})

test('commands in a container read their stdin (a stand-in for Docker Engine)', async () => {
  engine.answers['POST /containers/web/exec'] = { content: { Id: 'e1' } }
  engine.answers['POST /exec/e1/start'] = { content: frame(1, '1\n') }
  engine.answers['GET /exec/e1/json'] = { content: { ExitCode: 0 } }
  expect(await ask(docker.run_stdout, { name: 'web', cmd: 'wc -l', stdin: 'a line\n' })).toBe('1')
  expect(engine.inputs).toEqual(['a line\n'])
})

test('a command may end before it has read its stdin (a stand-in for Docker Engine)', async () => {
  engine.answers['POST /containers/web/exec'] = { content: { Id: 'e1' } }
  engine.answers['POST /exec/e1/start'] = { content: frame(1, '1\n'), isDeaf: true }
  engine.answers['GET /exec/e1/json'] = { content: { ExitCode: 3 } }
  expect(await ask(docker.retcode, { name: 'web', cmd: 'exit 3', stdin: 'x'.repeat(5_000_000) })).toBe(3)
})

test('archives of tar hold long names, links, and sizes of files that are large', async () => {
  const long = `${'folder/'.repeat(30)}file`
  const members = [
    { name: 'sub', kind: 'folder', mode: 0o755, size: 0, mtime: 1 },
    { name: long, kind: 'file', mode: 0o600, size: 3, mtime: 1 },
    { name: 'link', kind: 'link', mode: 0o777, size: 0, mtime: 1, target: `../${long}` },
  ] as const
  const parts = members.flatMap((member) => [
    headerOf(member),
    ...(member.size ? [Buffer.from('abc'), padding(3)] : []),
  ])
  writeFileSync(at('a.tar'), Buffer.concat([...parts, TRAILER]))
  const listed = execFileSync('tar', ['tvf', at('a.tar')], { encoding: 'utf8' })
  expect(listed.split('\n').map((line) => line.replace(/^(\S+).*\d\d:\d\d /, '$1 '))).toEqual([
    'drwxr-xr-x sub/',
    `-rw------- ${long}`,
    `lrwxrwxrwx link -> ../${long}`,
    '',
  ])
  const size = 9 * 1024 ** 3
  const { mode } = await onlyFile(
    (async function* () {
      yield headerOf({ name: 'a', kind: 'file', mode: 0o600, size, mtime: 1 })
    })(),
  )
  expect(mode).toBe(0o600)
})
