import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { readIgnored } from '../../../../modules/_docker/ignore.ts'
import * as docker from '../../../../modules/dockermod.ts'
import { SLOW } from '../../../harness/slow.ts'
import { type AnyFn, call } from '../context.ts'
import { type Engine, engineContext, frame, openEngine } from './engine.ts'

let folder: string
let engine: Engine

beforeEach(async () => {
  ;({ folder, engine } = await openEngine())
})

const context = (overrides = {}) => engineContext(folder, overrides)
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, own = context()) => call(fn, given, own)
const write = (name: string, content = '') => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

describe('docker.build (a stand-in for Docker Engine)', () => {
  const events = (...list: object[]) => ({ content: list.map((event) => JSON.stringify(event)).join('\r\n') })
  const sent = () => engine.asked.find(({ path }) => path === '/build')!
  /** The names in the archive that was sent. */
  const names = () => execFileSync('tar', ['t'], { input: sent().bytes, encoding: 'utf8' }).trim().split('\n')

  beforeEach(() => {
    write('web/Dockerfile', 'FROM scratch\n')
    engine.answers['POST /build'] = events(
      { stream: 'Step 1/2 : FROM debian:12\n' },
      { status: 'Pull complete', id: 'l1' },
      { status: 'Status: Downloaded newer image for debian:12' },
      { stream: ' ---> Running in 0123\n' },
      { aux: { ID: 'sha256:aaaaaaaaaaaaaaaa' } },
      { stream: 'Successfully built aaaaaaaaaaaa\n' },
    )
    engine.answers['GET /images/aaaaaaaaaaaa/json'] = { content: engine.images[0] }
  })

  test('sends a folder, and returns the image and what was pulled for it', async () => {
    write('web/src/a.txt', 'a'.repeat(100_000))
    symlinkSync('src/a.txt', join(folder, 'web/link'))
    const given = { path: join(folder, 'web'), repository: 'mine', tag: 'v2', buildargs: { VERSION: 2 } }
    expect(await ask(docker.build, given)).toEqual({
      Time_Elapsed: expect.any(Number),
      Layers: { Pulled: ['l1'] },
      Status: 'Downloaded newer image for debian:12',
      Id: 'aaaaaaaaaaaa',
      Image: ['debian:12', 'debian:latest'],
    })
    expect(Object.fromEntries(sent().query)).toEqual({
      t: 'mine:v2',
      q: 'false',
      nocache: 'false',
      rm: 'true',
      buildargs: '{"VERSION":"2"}',
    })
    expect(names()).toEqual(['Dockerfile', 'link', 'src/', 'src/a.txt'])
    const content = execFileSync('tar', ['xO', 'src/a.txt'], { input: sent().bytes })
    expect(content.length).toBe(100_000)
  })

  test('leaves out what .dockerignore names, but not the Dockerfile', async () => {
    for (const name of ['a.log', 'src/b.log', 'src/keep.log', 'node_modules/x/y', 'src/c.ts'])
      write(`web/${name}`)
    write('web/.dockerignore', '# what is not needed\n**/*.log\n!src/keep.log\n/node_modules/\nDockerfile\n')
    await ask(docker.build, { path: join(folder, 'web') })
    expect(names()).toEqual(['.dockerignore', 'Dockerfile', 'src/', 'src/c.ts', 'src/keep.log'])
    expect(sent().query.has('t')).toBe(false)
  })

  test('takes another Dockerfile, also one from elsewhere', async () => {
    write('web/other/Dockerfile.test')
    const path = join(folder, 'web')
    await ask(docker.build, { path, dockerfile: join(path, 'other/Dockerfile.test') })
    expect(sent().query.get('dockerfile')).toBe('other/Dockerfile.test')
    engine.asked.length = 0
    await ask(docker.build, { path, dockerfile: write('Dockerfile.else', 'FROM scratch\n') })
    const name = sent().query.get('dockerfile')!
    expect(names()).toContain(name)
    expect(name).toMatch(/^\.dockerfile\./)
  })

  test('lets Docker fetch a URL, and sends all log-ins', async () => {
    const auth = Buffer.from('fred:geheim').toString('base64')
    write('config/config.json', JSON.stringify({ auths: { 'reg.example': { auth } } }))
    const path = 'https://github.com/fred/web.git'
    const given = { path, rm: false, cache: false, api_response: true }
    expect(await ask(docker.build, given)).toMatchObject({
      Intermediate_Containers: ['0123'],
      API_Response: expect.arrayContaining([{ stream: ' ---> Running in 0123\n' }]),
    })
    expect(Object.fromEntries(sent().query)).toMatchObject({ remote: path, nocache: 'true', rm: 'false' })
    const config = Buffer.from(String(sent().headers['x-registry-config']), 'base64url').toString()
    expect(JSON.parse(config)).toEqual({
      'reg.example': { username: 'fred', password: 'geheim', serveraddress: 'reg.example' },
    })
  })

  test('fails with what Docker says, without the password of a URL', async () => {
    const path = 'https://fred:geheim@example.com/web.git'
    engine.answers['POST /build'] = events(
      { stream: 'Step 1\n' },
      { errorDetail: { code: 1, message: `no ${path}` } },
    )
    await expect(ask(docker.build, { path })).rejects.toThrow(
      'Build failed for https://<redacted>@example.com/web.git. Error(s) follow:\n\n1: no https://<redacted>@example.com/web.git',
    )
    engine.answers['POST /build'] = { status: 500, content: { message: `cannot clone ${path}` } }
    await expect(ask(docker.build, { path })).rejects.toThrow(
      'Error 500: cannot clone https://<redacted>@example.com/web.git',
    )
  })

  test('warns if the image is not there', async () => {
    engine.answers['GET /images/aaaaaaaaaaaa/json'] = { status: 404 }
    expect(await ask(docker.build, { path: join(folder, 'web'), repository: 'mine' })).toMatchObject({
      Warning: 'Failed to tag image as mine:latest',
    })
  })

  test.each([
    [{}, 'the path of a folder, or a URL, must be given'],
    [{ path: '/none' }, 'there is no folder /none on the minion'],
    [{ path: '/proc/self' }, 'there is no Dockerfile /proc/self/Dockerfile'],
    [{ path: '/', tag: 'v1' }, 'If tagging, both a repository and tag are required'],
    [{ path: '/', fileobj: 'FROM scratch' }, 'fileobj cannot be given'],
  ])('refuses %j', async (given, message) => {
    await expect(ask(docker.build, given)).rejects.toThrow(message)
    expect(engine.asked.some(({ path }) => path === '/build')).toBe(false)
  })
})

test.each([
  ['*.log', ['a.log', 'b/a.log'], [true, false]],
  ['**/*.log', ['a.log', 'b/c/a.log', 'a.txt'], [true, true, false]],
  ['a/**', ['a', 'a/b', 'a/b/c', 'b'], [false, true, true, false]],
  ['a?[0-9]', ['ab1', 'abc', 'b/ab1', 'ab1/x'], [true, false, false, true]],
  ['/x/../a/', ['a', 'a/b', 'x'], [true, true, false]],
  ['*\n!b/c', ['a', 'b', 'b/c', 'b/d'], [true, true, false, true]],
  ['a.b+c', ['a.b+c', 'aXb+c'], [true, false]],
])('the patterns %j of .dockerignore keep some of %j out', (text, paths, expected) => {
  const ignored = readIgnored(text, [])
  expect(paths.map((path) => ignored.has(path))).toEqual(expected)
})

describe('docker.script (a stand-in for Docker Engine)', () => {
  let ran: string[][]

  beforeEach(() => {
    ran = []
    engine.containers.web = { Id: 'c1', State: { Running: true } }
    engine.answers['POST /containers/web/exec'] = { content: { Id: 'e1' } }
    engine.answers['POST /exec/e1/start'] = { content: frame(1, 'done\n') }
    engine.answers['GET /exec/e1/json'] = { content: { ExitCode: 3, Pid: 9 } }
    engine.hooks['POST /containers/web/exec'] = () => {
      const words = engine.asked.at(-1)!.body.Cmd as string[]
      const isScript = words.includes('-i')
      engine.answers['GET /exec/e1/json'] = { content: { ExitCode: isScript ? 3 : 0, Pid: 9 } }
      ran.push(words)
    }
  })

  test('copies the script into the container, runs it, and removes it', async () => {
    const source = write('run.sh', '#!/bin/sh\n')
    const own = context()
    const given = { name: 'web', source, args: 'a "b c"', stdin: 'input' }
    expect(await ask(docker.script, given, own)).toEqual({ pid: 9, retcode: 3, stdout: 'done', stderr: '' })
    expect(own.retcode).toBe(3)
    const path = ran[0]!.at(-1)!
    expect(path).toMatch(/^\/tmp\/salt-[\w-]+\.sh$/)
    expect(ran).toEqual([
      ['sh', '-c', 'umask 077 && cat >"$0" && chmod 700 "$0"', path],
      ['env', '-i', expect.stringMatching(/^PATH=/), 'sh', '-c', `${path} a "b c"`],
      ['rm', '-f', path],
    ])
    expect(engine.inputs).toEqual(['#!/bin/sh\n', 'input'])
  })

  test('renders a template of the file server', SLOW, async () => {
    const source = write('run.sh', 'echo {{ pillar.name }}')
    const own = context({ call: async () => source, pillar: { name: 'fred' } })
    const given = { name: 'web', source: 'salt://run.sh', template: 'jinja', ignore_retcode: true }
    expect(await ask(docker.script_retcode, given, own)).toBe(3)
    expect(engine.inputs).toEqual(['echo fred'])
    expect(own.retcode).toBe(0)
  })

  test('is an error of the cache if there is no such file', async () => {
    const own = context({ call: async () => '' })
    const cached = { pid: 0, retcode: 1, stdout: '', cache_error: true }
    expect(await ask(docker.script, { name: 'web', source: 'salt://none' }, own)).toEqual({
      ...cached,
      stderr: 'salt://none is not on the file server',
    })
    expect(own.retcode).toBe(1)
    expect(await ask(docker.script, { name: 'web', source: '/none.sh' })).toEqual({
      ...cached,
      stderr: 'Cannot read /none.sh: ENOENT',
    })
    expect(ran).toEqual([])
  })

  test('says why the script cannot be written', async () => {
    engine.hooks = {}
    engine.answers['POST /exec/e1/start'] = { content: frame(2, 'read-only file system\n') }
    await expect(ask(docker.script, { name: 'web', source: write('run.sh') })).rejects.toThrow(
      /^The script cannot be written to \/tmp\/salt-\S+ in container 'web': read-only file system$/,
    )
  })
})
