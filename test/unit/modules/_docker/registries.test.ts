import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import * as docker from '../../../../modules/dockermod.ts'
import { SLOW } from '../../../harness/slow.ts'
import { type AnyFn, call } from '../context.ts'
import { type Engine, engineContext, openEngine } from './engine.ts'

const HUB = 'https://index.docker.io/v1/'
const PASSWORD = 'pa:ss/wo+rd'

let folder: string
let engine: Engine

beforeEach(async () => {
  ;({ folder, engine } = await openEngine())
})

const login = { username: 'fred', password: PASSWORD }
/** A context of a minion with these registries. */
const context = (own: unknown = {}, more: object = {}) =>
  engineContext(folder, {
    call: (async (name: string) => (name === 'config.get' ? own : more)) as never,
  })
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, own = context()) => call(fn, given, own)
const path = () => join(folder, 'config/config.json')
const config = () => JSON.parse(readFileSync(path(), 'utf8'))
const configure = (value: unknown) => {
  mkdirSync(join(folder, 'config'), { recursive: true })
  writeFileSync(path(), typeof value === 'string' ? value : JSON.stringify(value))
}
const auth = (text: string) => Buffer.from(text).toString('base64')
const header = (name: string, at: string) => {
  const given = engine.asked.find((request) => request.path === at)!.headers[name]
  return JSON.parse(Buffer.from(String(given), 'base64url').toString())
}

describe('docker.login (a stand-in for Docker Engine)', () => {
  test('asks Docker, and keeps the log-ins of all registries in a private file', async () => {
    engine.answers['POST /auth'] = { content: { Status: 'Login Succeeded', IdentityToken: '' } }
    configure({ HttpHeaders: { a: 'b' } })
    const own = context({ hub: login }, { 'more-docker-registries': { 'https://reg.example/v2/': login } })
    expect(await ask(docker.login, {}, own)).toEqual({
      retcode: 0,
      Errors: [],
      Results: { hub: true, 'https://reg.example/v2/': true },
    })
    expect(engine.asked.map(({ body }) => body)).toEqual([
      { ...login, serveraddress: HUB },
      { ...login, serveraddress: 'reg.example' },
    ])
    expect(config()).toEqual({
      HttpHeaders: { a: 'b' },
      auths: { [HUB]: { auth: auth(`fred:${PASSWORD}`) }, 'reg.example': { auth: auth(`fred:${PASSWORD}`) } },
    })
    expect(statSync(path()).mode & 0o777).toBe(0o600)
    expect(own.lines).toEqual([])
  })

  test('keeps the token of a registry in place of the password', async () => {
    engine.answers['POST /auth'] = { content: { IdentityToken: 't1' } }
    await ask(docker.login, {}, context({ hub: login }))
    expect(config().auths[HUB]).toEqual({ auth: auth('fred:'), identitytoken: 't1' })
    engine.answers['POST /images/fred/web/push'] = { content: '' }
    await ask(docker.push, { image: 'fred/web' })
    expect(header('x-registry-auth', '/images/fred/web/push')).toEqual({
      identitytoken: 't1',
      serveraddress: HUB,
    })
  })

  test('fails with what the registry says, without the password', async () => {
    engine.answers['POST /auth'] = { status: 401, content: { message: `no: ${PASSWORD} is wrong` } }
    const own = context({ hub: login })
    expect(await ask(docker.login, {}, own)).toEqual({
      retcode: 1,
      Errors: ['no: <redacted> is wrong'],
      Results: { hub: false },
    })
    expect(own.retcode).toBe(1)
    expect(existsSync(path())).toBe(false)
  })

  test('says what is wrong with the configuration', async () => {
    const own = context({ a: { username: 'fred' }, b: 'text' }, { 'c-docker-registries': 'text' })
    expect(await ask(docker.login, { registries: ['a', 'b', 'd'] }, own)).toEqual({
      retcode: 1,
      Errors: [
        "Docker registry 'c-docker-registries' was not specified as a dictionary",
        "Missing 'password' for registry 'a'",
        "Invalid configuration for registry 'b'",
        "No match found for registry 'd'",
      ],
      Results: {},
    })
    expect(await ask(docker.login, {}, context('text'))).toMatchObject({
      Errors: ["'docker-registries' Pillar value must be a dictionary"],
    })
    engine.answers['POST /auth'] = {}
    configure('{')
    expect(await ask(docker.login, {}, context({ hub: login }))).toMatchObject({
      Errors: [`${path()} is not valid JSON; correct it, or remove it and log in again.`],
    })
  })
})

test('docker.logout forgets log-ins (a stand-in for Docker Engine)', async () => {
  configure({ auths: { [HUB]: { auth: 'a' }, 'https://reg.example/v1/': { auth: 'b' } } })
  const own = context({ hub: login, 'reg.example': login, 'other.example': login })
  expect(await ask(docker.logout, { registries: ['reg.example', 'other.example', 'none'] }, own)).toEqual({
    retcode: 1,
    Errors: ["No match found for registry 'none'"],
    Results: { 'reg.example': true, 'other.example': true },
  })
  expect(config()).toEqual({ auths: { [HUB]: { auth: 'a' } } })
})

test(
  'a program keeps log-ins where the configuration names one (a stand-in for Docker Engine)',
  SLOW,
  async () => {
    const program = join(folder, 'docker-credential-box')
    writeFileSync(
      program,
      `#!/bin/sh
cd ${folder}
case $1 in
store) cat >kept ;;
get) test -f kept && cat kept ;;
erase) rm kept ;;
esac
`,
    )
    chmodSync(program, 0o755)
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
    engine.answers['POST /auth'] = { content: {} }
    configure({ credsStore: 'box' })
    const own = context({ 'reg.example:5000': login })
    await ask(docker.login, {}, own)
    expect(config()).toEqual({ credsStore: 'box', auths: { 'reg.example:5000': {} } })
    expect(JSON.parse(readFileSync(join(folder, 'kept'), 'utf8'))).toEqual({
      ServerURL: 'reg.example:5000',
      Username: 'fred',
      Secret: PASSWORD,
    })
    engine.answers['POST /images/reg.example:5000/web/push'] = { content: '' }
    await ask(docker.push, { image: 'reg.example:5000/web:v1' }, own)
    const sent = { username: 'fred', password: PASSWORD, serveraddress: 'reg.example:5000' }
    expect(header('x-registry-auth', '/images/reg.example:5000/web/push')).toEqual(sent)
    await ask(docker.logout, {}, own)
    expect(existsSync(join(folder, 'kept'))).toBe(false)
    expect(JSON.stringify(own.lines)).not.toContain(PASSWORD)
  },
)

describe('docker.push and pull (a stand-in for Docker Engine)', () => {
  const events = (...list: object[]) => ({ content: list.map((event) => JSON.stringify(event)).join('\r\n') })

  test('a push tells which layers are new, and sends the log-in', async () => {
    configure({ auths: { 'reg.example': { auth: auth(`fred:${PASSWORD}`) } } })
    engine.answers['POST /images/reg.example/web/push'] = events(
      { status: 'The push refers to repository [reg.example/web]' },
      { status: 'Layer already exists', id: 'l1' },
      { status: 'Pushed', id: 'l2' },
      { status: 'v1: digest: sha256:1' },
    )
    const given = { image: 'reg.example/web:v1', api_response: true }
    expect(await ask(docker.push, given)).toEqual({
      Time_Elapsed: expect.any(Number),
      retcode: 0,
      Layers: { Already_Pushed: ['l1'], Pushed: ['l2'] },
      API_Response: expect.arrayContaining(['{"status":"Pushed","id":"l2"}']),
    })
    const sent = engine.asked.at(-1)!
    expect(sent.query.get('tag')).toBe('v1')
    expect(header('x-registry-auth', sent.path)).toEqual({
      username: 'fred',
      password: PASSWORD,
      serveraddress: 'reg.example',
    })
  })

  test('a push that fails is an error and a return code', async () => {
    const denied = { errorDetail: { message: 'denied' }, error: 'denied' }
    engine.answers['POST /images/web/push'] = events(denied)
    const own = context()
    expect(await ask(docker.push, { image: 'web' }, own)).toMatchObject({ retcode: 1, Errors: ['denied'] })
    expect(own.retcode).toBe(1)
    expect(header('x-registry-auth', '/images/web/push')).toEqual({})
    expect(engine.asked.at(-1)!.query.has('tag')).toBe(false)
  })

  test('a pull sends the log-in', async () => {
    configure({ auths: { [HUB]: { auth: auth('fred:x') } } })
    engine.answers['POST /images/create'] = events({ status: 'Status: fine' })
    await ask(docker.pull, { image: 'fred/web' })
    expect(header('x-registry-auth', '/images/create')).toMatchObject({ username: 'fred', password: 'x' })
  })
})

test('docker.search returns what a registry has, by name (a stand-in for Docker Engine)', async () => {
  const images = [
    { name: 'debian', description: 'an OS', is_official: true, is_trusted: false, star_count: 5 },
    { name: 'fred/debian', description: '', is_official: false, is_trusted: true, star_count: 0, is_x: 1 },
  ]
  engine.answers['GET /images/search'] = { content: images }
  const debian = { Description: 'an OS', Official: true, Trusted: false, Stars: 5 }
  const other = { Description: '', Official: false, Trusted: true, Stars: 0, is_x: 1 }
  expect(await ask(docker.search, { name: 'debian' })).toEqual({ debian, 'fred/debian': other })
  expect(await ask(docker.search, { name: 'debian', official: true })).toEqual({ debian })
  expect(await ask(docker.search, { name: 'debian', trusted: true })).toEqual({ 'fred/debian': other })
  engine.answers['GET /images/search'] = { content: [] }
  await expect(ask(docker.search, { name: 'none' })).rejects.toThrow(
    "No images matched the search string 'none'",
  )
})

describe('docker.dangling and prune (a stand-in for Docker Engine)', () => {
  test('images without a tag are listed, and removed on request', async () => {
    const bare = (Id: string, ParentId = '') => ({ Id, ParentId, RepoTags: ['<none>:<none>'] })
    engine.images = [...engine.images, bare('sha256:cccccccccc'), bare('sha256:dddddddddd')]
    engine.images.push({ ...bare('sha256:eeeeeeeeee', 'sha256:dddddddddd'), RepoTags: ['web:v1'] })
    expect(await ask(docker.dangling)).toEqual(['sha256:bbbbb', 'sha256:ccccc'])
    engine.answers['DELETE /images/sha256:bbbbbbbbbbbbbbbb'] = { status: 500, content: { message: 'no' } }
    engine.answers['GET /images/sha256:cccccccccc/json'] = { status: 404, content: { message: 'gone' } }
    const own = context()
    expect(await ask(docker.dangling, { prune: true, force: true }, own)).toEqual({
      'sha256:bbbbb': { Removed: { Layers: [], Tags: [], retcode: 1, Errors: ['Error 500: no'] } },
      'sha256:ccccc': { Comment: 'Error 404: gone', Removed: false },
    })
    expect(own.retcode).toBe(1)
  })

  test('what is not used is removed: all but volumes, or what is chosen', async () => {
    for (const kind of ['containers', 'images', 'networks', 'build', 'volumes'])
      engine.answers[`POST /${kind}/prune`] = { content: { SpaceReclaimed: kind.length } }
    expect(await ask(docker.prune, { filters: {} })).toEqual({
      containers: { SpaceReclaimed: 10 },
      images: { SpaceReclaimed: 6 },
      networks: { SpaceReclaimed: 8 },
      build: { SpaceReclaimed: 5 },
    })
    const filters = { dangling: true, label: 'foo, bar=baz' }
    expect(await ask(docker.prune, { images: true, volumes: true, filters })).toEqual({
      images: { SpaceReclaimed: 6 },
      volumes: { SpaceReclaimed: 7 },
    })
    const { query } = engine.asked.at(-1)!
    expect(query.get('filters')).toBe('{"dangling":["true"],"label":["foo","bar=baz"]}')
    expect(await ask(docker.prune, { system: false, filters: {} })).toEqual({})
  })
})
