import { chmod, lchown, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import * as http from '../../../modules/http.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type Asked, type HttpServer, httpServer, type Told } from '../../harness/http-server.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { call, fakeContext } from './context.ts'

const STRANGER = 65534

let server: HttpServer | undefined
afterEach(() => server?.close())

async function serve(answer: (asked: Asked) => Told | undefined): Promise<string> {
  server = await httpServer(answer)
  return server.url
}

const dictOf = (result: unknown) => {
  const { dict, error } = result as { dict?: unknown; error?: unknown }
  return dict ?? error
}

describe('http.query', () => {
  test('sends what is given, and returns what is asked for', async () => {
    const url = await serve(({ method, query, headers, body }) => ({
      text: JSON.stringify({ method, a: query.get('a'), login: headers.authorization, body }),
      headers: { 'x-own': 'yes' },
    }))
    const given = { url, method: 'POST', params: { a: 1 }, data: { b: 2 }, username: 'me', password: 'pw' }
    expect(await call(http.query, { ...given, decode: true, status: true, headers: true })).toEqual({
      body: expect.stringContaining('POST'),
      dict: { method: 'POST', a: '1', login: 'Basic bWU6cHc=', body: 'b=2' },
      status: 200,
      headers: expect.objectContaining({ 'x-own': 'yes' }),
    })
  })

  test('shows headers nowhere, since they may have tokens in them', () => {
    expect(http.query.params.header_dict.secret).toBe(true)
    expect(http.wait_for_successful_query.params.header_dict.secret).toBe(true)
  })

  test('follows redirects, and gives headers and data of the caller to no other server', async () => {
    const other = await httpServer(({ method, headers, body }) => ({
      text: JSON.stringify({ method, key: headers['x-api-key'], login: headers.authorization, body }),
    }))
    const url = await serve(({ path, method, headers, body }) => {
      if (path === '/far') return { status: 302, headers: { location: `${other.url}x` } }
      if (path === '/far-data') return { status: 307, headers: { location: `${other.url}x` } }
      if (path === '/near') return { status: 303, headers: { location: '/here' } }
      if (path === '/round') return { status: 302, headers: { location: '/round' } }
      return { text: JSON.stringify({ method, key: headers['x-api-key'], body }) }
    })
    const given = { header_dict: { 'X-Api-Key': 'geheim' }, username: 'me', password: 'pw', decode: true }
    const at = async (path: string, more: object = {}) =>
      dictOf(await call(http.query, { ...given, url: `${url}${path}`, ...more }))
    const post = { method: 'POST', data: 'a=1' }
    const seen = { method: 'GET', body: '' }
    expect(await at('far')).toEqual(seen)
    expect(await at('far', post)).toEqual(seen)
    expect(await at('near', post)).toEqual({ ...seen, key: 'geheim' })
    expect(await at('far-data', post)).toContain('redirects to another host, which does not get the data')
    expect(await at('round')).toContain('redirects more than 20 times')
    await other.close()
  })

  test('reports a failure of the server, or that none answers', async () => {
    const url = await serve(() => ({ status: 503, text: 'busy' }))
    expect(await call(http.query, { url })).toEqual({
      body: 'busy',
      status: 503,
      error: 'HTTP 503: Service Unavailable',
    })
    expect(await call(http.query, { url, raise_error: false, text: true })).toEqual({
      body: 'busy',
      text: 'busy',
    })
    await server?.close()
    expect(await call(http.query, { url })).toEqual({ error: expect.stringContaining('did not answer') })
    expect(await call(http.query, { url, status: true })).toMatchObject({ status: 0 })
    expect(await call(http.query, { url, raise_error: false })).toEqual({ body: null })
    await expect(call(http.query, { url: 'ftp://x' })).rejects.toThrow("'ftp://x' is not a URL")
  })
})

test('http.query declares and encodes data as Salt does', async () => {
  const url = await serve(({ headers, body }) => ({
    text: JSON.stringify({
      type: headers['content-type'],
      own: headers['x-own'],
      agent: headers['user-agent'],
      body,
    }),
  }))
  const sent = async (more: object) => dictOf(await call(http.query, { url, decode: true, ...more }))
  const form = 'application/x-www-form-urlencoded'
  expect(await sent({ method: 'POST', data: 'x' })).toMatchObject({ type: form, body: 'x' })
  expect(await sent({ method: 'POST', data: { a: true, b: 'c d' } })).toMatchObject({ body: 'a=True&b=c+d' })
  expect(await sent({ method: 'PUT', data: 'x' })).not.toHaveProperty('type')
  const json = { header_list: ['Content-Type: application/json', 'X-Own: a:b'], agent: 'mine' }
  expect(await sent({ method: 'POST', data: { a: 1 }, ...json })).toEqual({
    type: 'application/json',
    own: 'a:b',
    agent: 'mine',
    body: '{"a": 1}',
  })
})

test('http.query sends files as data and as headers', async () => {
  const folder = await temporaryFolder('salt-ts-http-')
  const [data_file, header_file] = [join(folder, 'data'), join(folder, 'headers')]
  await writeFile(data_file, 'a=1')
  await writeFile(header_file, 'X-Own: yes\nno header\n')
  const url = await serve(({ headers, body }) => ({ text: `${headers['x-own']} ${body}` }))
  expect(await call(http.query, { url, method: 'POST', data_file, header_file })).toEqual({ body: 'yes a=1' })
  await removeFolder(folder)
})

test('http.query reads the encoding that the headers name', async () => {
  const charset = await serve(() => ({
    text: 'gr\u00fc',
    headers: { 'content-type': 'text/plain; charset=latin1' },
  }))
  expect(await call(http.query, { url: charset })).toEqual({ body: 'gr\u00c3\u00bc' })
})

test('http.query decodes the format that is named or that the headers say, and keeps the text', async () => {
  const folder = await temporaryFolder('salt-ts-http-')
  const file = join(folder, 'out')
  const url = await serve(({ path }) =>
    path === '/yaml'
      ? { text: 'a: [1]', headers: { 'content-type': 'text/yaml' } }
      : { text: 'a: [1]', headers: { 'content-type': 'text/plain' } },
  )
  const got = (path: string, more: object = {}) =>
    call(http.query, { url: `${url}${path}`, decode: true, ...more })
  expect(await got('yaml')).toEqual({ body: 'a: [1]', dict: { a: [1] } })
  expect(await got('plain')).toEqual({ body: 'a: [1]', text: 'a: [1]' })
  expect(await got('plain', { decode_type: 'yaml' })).toMatchObject({ dict: { a: [1] } })
  expect(await got('plain', { decode_type: 'toml' })).toMatchObject({
    error: expect.stringContaining('Invalid decode_type'),
  })
  await expect(got('plain', { decode_type: 'json' })).rejects.toThrow('The body is not valid JSON')
  await got('plain', { text_out: file })
  expect(await readFile(file, 'utf8')).toBe('a: [1]')
  await expect(call(http.query, { url, data_file: join(folder, 'none') })).rejects.toThrow(
    'No such file or directory',
  )
  await expect(call(http.query, { url: 'https://localhost/', verify_ssl: false })).rejects.toThrow(
    'certificate of a server is always checked',
  )
  await removeFolder(folder)
})

test('http.query writes to no place to which a link of somebody else leads', needs(ROOT), async () => {
  const folder = await temporaryFolder('salt-ts-http-')
  await chmod(folder, 0o777)
  const [ours, theirs] = [join(folder, 'ours'), join(folder, 'theirs')]
  await writeFile(ours, 'as it was')
  await symlink(ours, theirs)
  await lchown(theirs, STRANGER, STRANGER)
  const url = await serve(() => ({ text: 'new' }))
  await expect(call(http.query, { url, text_out: theirs })).rejects.toThrow(theirs)
  expect(await readFile(ours, 'utf8')).toBe('as it was')
  await removeFolder(folder)
})

describe('http.wait_for_successful_query', () => {
  const soon = { request_interval: 0.01 }

  test('asks until the server is well', async () => {
    let asked = 0
    const url = await serve(() => ({ status: ++asked < 3 ? 503 : 200, text: String(asked) }))
    expect(await call(http.wait_for_successful_query, { url, ...soon })).toEqual({ body: '3' })
  })

  test('returns the last answer when the time is over, or that there is none', async () => {
    const url = await serve(() => ({ status: 500 }))
    const given = { url, wait_for: 0, ...soon }
    expect(await call(http.wait_for_successful_query, given)).toMatchObject({
      error: 'HTTP 500: Internal Server Error',
    })
    await server?.close()
    expect(await call(http.wait_for_successful_query, given)).toEqual({
      error: expect.stringContaining('did not answer'),
    })
  })

  test('ends with its job', async () => {
    const stop = new AbortController()
    const url = await serve(() => {
      stop.abort()
      return { status: 500 }
    })
    await expect(
      call(http.wait_for_successful_query, { url, ...soon }, fakeContext({ signal: stop.signal })),
    ).rejects.toThrow('aborted')
  })
})

test('update_ca_bundle replaces the file by certificates that are fetched, and only by certificates', async () => {
  const folder = await temporaryFolder('salt-ts-ca-')
  const [target, mine] = [join(folder, 'ca.pem'), join(folder, 'mine.pem')]
  await writeFile(target, 'old')
  await writeFile(mine, 'mine')
  const url = await serve(({ path }) => ({
    text: path === '/ca' ? '-----BEGIN CERTIFICATE-----\nx' : 'sorry',
  }))
  await expect(call(http.update_ca_bundle, { target, source: `${url}no` })).rejects.toThrow(
    'has no certificates',
  )
  expect(await readFile(target, 'utf8')).toBe('old')
  expect(await call(http.update_ca_bundle, { target, source: `${url}ca`, merge_files: mine })).toBe(null)
  expect(await readFile(target, 'utf8')).toBe('-----BEGIN CERTIFICATE-----\nx\nmine')
  await removeFolder(folder)
})
