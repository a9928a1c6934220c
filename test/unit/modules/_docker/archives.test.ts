import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import * as docker from '../../../../modules/dockermod.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'
import { type AnyFn, call } from '../context.ts'
import { type Engine, engineContext, openEngine } from './engine.ts'

const ARCHIVE = Buffer.from('files of an image '.repeat(20_000))
const DEBIAN = 'sha256:aaaaaaaaaaaaaaaa'

let folder: string
let engine: Engine

beforeEach(async () => {
  ;({ folder, engine } = await openEngine())
  engine.answers['GET /images/debian:12/get'] = { content: ARCHIVE }
  engine.answers['GET /containers/web/export'] = { content: ARCHIVE }
})

const context = (overrides = {}) => engineContext(folder, overrides)
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, own = context()) => call(fn, given, own)
const at = (name: string) => join(folder, name)
const left = () => readdirSync(folder).filter((name) => name !== 'docker.sock')

describe('docker.save and docker.export (a stand-in for Docker Engine)', () => {
  test('write an archive, and say how large it is', async () => {
    expect(await ask(docker.save, { name: 'debian:12', path: at('debian.tar') })).toEqual({
      Time_Elapsed: expect.any(Number),
      Path: at('debian.tar'),
      Size: ARCHIVE.length,
      Size_Human: '351.6 KiB',
    })
    expect(readFileSync(at('debian.tar')).equals(ARCHIVE)).toBe(true)
    expect(statSync(at('debian.tar')).mode & 0o777).toBe(0o600)
    expect(left()).toEqual(['debian.tar'])
  })

  test('an image without this tag is saved by its id', async () => {
    engine.answers[`GET /images/${DEBIAN}/get`] = { content: ARCHIVE }
    await ask(docker.save, { name: DEBIAN, path: at('debian.tar') })
    expect(readFileSync(at('debian.tar')).equals(ARCHIVE)).toBe(true)
  })

  test('compress with gzip as the name says', async () => {
    const exported = await ask(docker.export, { name: 'web', path: at('web.tgz') })
    expect(exported).toMatchObject({ Path: at('web.tgz'), Size: statSync(at('web.tgz')).size })
    expect(gunzipSync(readFileSync(at('web.tgz'))).equals(ARCHIVE)).toBe(true)
  })

  test.each([
    ['bzip2', 'bz2'],
    ['xz', 'lzma'],
  ])('compress with %s', SLOW, async (program, compression) => {
    await ask(docker.export, { name: 'web', path: at('web'), compression })
    expect(execFileSync(program, ['-dc', at('web')]).equals(ARCHIVE)).toBe(true)
  })

  test('make folders, and replace files, only on request', async () => {
    const path = at('new/debian.tar')
    await expect(ask(docker.save, { name: 'debian:12', path })).rejects.toThrow(
      `Parent dir ${at('new')} of destination path does not exist. Use makedirs=True to create it.`,
    )
    await ask(docker.save, { name: 'debian:12', path, makedirs: true })
    await expect(ask(docker.save, { name: 'debian:12', path })).rejects.toThrow(`${path} already exists`)
    writeFileSync(path, 'old', { mode: 0o640 })
    await ask(docker.save, { name: 'debian:12', path, overwrite: true })
    expect(readFileSync(path).equals(ARCHIVE)).toBe(true)
  })

  test('refuse a path that is none of a file, and an unknown compression', async () => {
    const save = (given: object) => ask(docker.save, { name: 'debian:12', ...given })
    await expect(save({ path: 'debian.tar' })).rejects.toThrow("Path 'debian.tar' is not absolute")
    await expect(save({ path: folder, overwrite: true })).rejects.toThrow(
      `${folder} is no regular file; give the path of one.`,
    )
    symlinkSync('/dev/null', at('null'))
    await expect(save({ path: at('null'), overwrite: true })).rejects.toThrow('is no regular file')
    await expect(save({ path: at('a'), compression: 'zip' })).rejects.toThrow(
      "Invalid compression type 'zip'",
    )
  })

  test('leave nothing behind, and an old file as it was, if Docker refuses or breaks off', async () => {
    writeFileSync(at('old.tar.gz'), 'old')
    engine.answers['GET /images/debian:12/get'] = { content: ARCHIVE, breaks: true }
    const given = { name: 'debian:12', path: at('old.tar.gz'), overwrite: true }
    await expect(ask(docker.save, given)).rejects.toThrow(
      `Failed to save image(s) to ${at('old.tar.gz')}: aborted`,
    )
    expect(readFileSync(at('old.tar.gz'), 'utf8')).toBe('old')
    await expect(ask(docker.export, { name: 'none', path: at('none.tar') })).rejects.toThrow(
      'Error occurred during container export: Error 404: No such container: none',
    )
    await expect(ask(docker.save, { name: 'none', path: at('none.tar') })).rejects.toThrow(
      'Error 404: No such image: none',
    )
    expect(left()).toEqual(['old.tar.gz'])
  })

  test.each(['web.tar', 'web.tar.gz', 'web.tar.bz2'])(
    'end with the job while %s is written, and leave nothing behind',
    async (name) => {
      const stop = new AbortController()
      const own = context({ signal: stop.signal })
      engine.answers['GET /containers/web/export'] = { content: ARCHIVE, stalls: true }
      const exported = ask(docker.export, { name: 'web', path: at(name) }, own)
      const ended = expect(exported).rejects.toThrow('the job was killed')
      await until('a file that grows', () => left().some((one) => one.startsWith('.tmp-')))
      stop.abort(new Error('the job was killed'))
      await ended
      expect(left()).toEqual([])
    },
  )

  test('push the file to the master', async () => {
    const called: unknown[] = []
    const own = context({ call: async (...given: unknown[]) => called.push(given) === 1 })
    const given = { name: 'debian:12', path: at('debian.tar'), push: true }
    expect(await ask(docker.save, given, own)).toMatchObject({ Push: true })
    expect(called).toEqual([['cp.push', { path: at('debian.tar') }]])
  })
})

describe('docker.load (a stand-in for Docker Engine)', () => {
  const fresh = { Id: `sha256:${'c'.repeat(16)}`, ParentId: '', RepoTags: null }

  beforeEach(() => {
    writeFileSync(at('new.tar'), ARCHIVE)
    engine.hooks['POST /images/load'] = () => engine.images.push(fresh)
    engine.answers['POST /images/load'] = { content: '{"stream":"Loaded image"}\n' }
  })

  test('sends the file, and says which layers are new', async () => {
    expect(await ask(docker.load, { path: at('new.tar') })).toEqual({
      Time_Elapsed: expect.any(Number),
      Path: at('new.tar'),
      Layers: ['sha256:ccccc'],
    })
    const sent = engine.asked.find(({ path }) => path === '/images/load')!
    expect(sent.bytes.equals(ARCHIVE)).toBe(true)
    expect(sent.headers['content-type']).toBe('application/x-tar')
  })

  test('tags the topmost image', async () => {
    engine.answers[`POST /images/${fresh.Id}/tag`] = { status: 201 }
    const given = { path: at('new.tar'), repository: 'mine', tag: 'v2' }
    expect(await ask(docker.load, given)).toMatchObject({ Image: 'mine:v2' })
  })

  test('warns if there is no such image, or several, or Docker refuses', async () => {
    const load = () => ask(docker.load, { path: at('new.tar'), repository: 'mine', tag: 'v2' })
    engine.answers[`POST /images/${fresh.Id}/tag`] = { status: 500, content: { message: 'no' } }
    expect(await load()).toMatchObject({ Warning: `Failed to tag ${fresh.Id} as mine:v2: Error 500: no` })
    expect(await load()).toMatchObject({
      Warning: 'No top-level image layers were loaded, no image was tagged',
    })
    const [a, b] = ['d', 'e'].map((letter) => ({ ...fresh, Id: letter.repeat(16) }))
    engine.hooks['POST /images/load'] = () => engine.images.push(a!, b!)
    expect(await load()).toMatchObject({
      Warning: `More than one top-level image layer was loaded (${a!.Id}, ${b!.Id}), no image was tagged`,
    })
  })

  test('takes files of the file server', async () => {
    const own = context({ call: async () => at('new.tar') })
    expect(await ask(docker.load, { path: 'salt://new.tar' }, own)).toMatchObject({ Path: 'salt://new.tar' })
    const without = context({ call: async () => '' })
    await expect(ask(docker.load, { path: 'salt://no.tar' }, without)).rejects.toThrow(
      'Unable to cache salt://no.tar',
    )
  })

  test('fails with what Docker says', async () => {
    const load = () => ask(docker.load, { path: at('new.tar') })
    engine.answers['POST /images/load'] = { content: '{"errorDetail":{"message":"unexpected EOF"}}' }
    await expect(load()).rejects.toThrow(`Failed to load image(s) from ${at('new.tar')}: unexpected EOF`)
    engine.answers['POST /images/load'] = { status: 500, content: { message: 'no space' } }
    await expect(load()).rejects.toThrow(`Failed to load image(s) from ${at('new.tar')}: no space`)
    await expect(ask(docker.load, { path: at('none') })).rejects.toThrow(
      `Source file ${at('none')} does not exist`,
    )
    await expect(ask(docker.load, { path: at('new.tar'), tag: 'v2' })).rejects.toThrow(
      'If tagging, both a repository and tag are required',
    )
  })
})

describe('docker.import (a stand-in for Docker Engine)', () => {
  const query = () => engine.asked.find(({ path }) => path === '/images/create')!

  test('makes an image of a file', async () => {
    writeFileSync(at('root.tar'), ARCHIVE)
    engine.answers['POST /images/create'] = { content: '{"status":"sha256:abc123"}\n' }
    const given = { source: at('root.tar'), repository: 'mine', api_response: true }
    expect(await ask(docker.import, given)).toEqual({
      Time_Elapsed: expect.any(Number),
      API_Response: [{ status: 'sha256:abc123' }],
      Image: 'mine:latest',
      Id: 'sha256:abc123',
    })
    expect(query().bytes.equals(ARCHIVE)).toBe(true)
    expect([...query().query]).toEqual([
      ['fromSrc', '-'],
      ['repo', 'mine'],
      ['tag', 'latest'],
    ])
  })

  test('lets Docker fetch a URL, whose password is not shown', async () => {
    engine.answers['POST /images/create'] = {
      content: '{"status":"Downloading from x"}\n{"errorDetail":{"message":"not found"}}',
    }
    const source = 'https://fred:geheim@example.com/root.tar'
    await expect(ask(docker.import, { source, repository: 'mine' })).rejects.toThrow(
      'Import failed for https://<redacted>@example.com/root.tar. Error(s) follow:\n\nnot found',
    )
    expect(query().query.get('fromSrc')).toBe(source)
  })

  test('needs a file', async () => {
    await expect(ask(docker.import, { source: at('none'), repository: 'mine' })).rejects.toThrow(
      `Source file ${at('none')} does not exist`,
    )
  })
})
