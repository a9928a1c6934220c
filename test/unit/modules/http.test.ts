import { once } from 'node:events'
import { chmod, lchown, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Context } from 'salt-ts'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import * as http from '../../../modules/http.ts'
import { selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type Asked, type HttpServer, httpServer, type Told } from '../../harness/http-server.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
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
  test('sends the given data, and returns the requested fields', async () => {
    const url = await serve(({ method, query, headers, body }) => ({
      text: JSON.stringify({ method, a: query.get('a'), login: headers.authorization, body }),
      headers: { 'x-own': 'yes' },
    }))
    const given = { url, method: 'POST', params: { a: 1 }, data: { b: 2 }, username: 'me', password: 'pw' }
    expect(await call(http.query, { ...given, decode: true, status: true, headers: true })).toEqual({
      body: expect.stringContaining('POST'),
      dict: { method: 'POST', a: '1', login: 'Basic bWU6cHc=', body: 'b=2' },
      status: 200,
      headers: expect.objectContaining({ 'X-Own': 'yes' }),
    })
  })

  test('logs no headers, since they may contain tokens', () => {
    expect(http.query.params.header_dict.secret).toBe(true)
    expect(http.wait_for_successful_query.params.header_dict.secret).toBe(true)
  })

  test('follows redirects, and sends headers and data of the caller to no other server', async () => {
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

  test('does not wait for an answer from a connection that changes to another protocol', async () => {
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      )
    })
    onTestFinished(() => void tcp.close())
    await once(tcp.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}/`
    for (const method of ['GET', 'CONNECT'])
      expect(await call(http.query, { url, method, timeout: 5 })).toEqual({
        error: expect.stringMatching(/did not answer/),
      })
  })

  test(
    'does not accept a body without a length as complete after a time-out or a cancelled job',
    SLOW,
    async () => {
      const tcp = createTcpServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'))
      })
      onTestFinished(() => void tcp.close())
      await once(tcp.listen(0, '127.0.0.1'), 'listening')
      const url = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}/`
      expect(await call(http.query, { url, timeout: 0.5 })).toEqual({
        error: expect.stringContaining('no complete response within 0.5 s'),
      })
      const context = fakeContext({ signal: AbortSignal.timeout(500) })
      await expect(call(http.query, { url }, context)).rejects.toThrow('timeout')
    },
  )

  test('does not show the value of a header that cannot be sent', async () => {
    const url = 'http://127.0.0.1:1/'
    for (const given of [{ header_dict: { 'X-A': 'geheim\nB' } }, { header_list: ['X-A: geheim\r\nB: 1'] }]) {
      const error = await (call(http.query, { url, ...given }) as Promise<never>).catch(String)
      expect(error).toContain('The header "X-A" has a name or a value that cannot be sent')
      expect(error).not.toContain('geheim')
    }
  })

  test('reports an error of the server, or that no server answers', async () => {
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
    expect(await call(http.query, { url })).toEqual({ error: '[Errno 111] Connection refused' })
    expect(await call(http.query, { url, status: true })).toMatchObject({ status: 0 })
    expect(await call(http.query, { url, status: 200 })).toEqual({ error: '[Errno 111] Connection refused' })
    expect(await call(http.query, { url, raise_error: false })).toEqual({ body: null })
    expect(await call(http.query, { url, raise_error: false, status: true })).toEqual({
      body: null,
      status: 599,
    })
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
  expect(await sent({ method: 'post', data: 'x' })).toMatchObject({ type: form, body: 'x' })
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

test('http.query decodes the format that is given or in the headers, and keeps the text', async () => {
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
  await removeFolder(folder)
})

test('http.query decodes the elements below the root of XML, without attributes', async () => {
  const text = '<r><a x="1">b &amp; c</a><l><n>1</n><n>2</n><e/></l><p:q xmlns:p="urn:p">d</p:q></r>'
  const url = await serve(({ path }) => ({
    text: path === '/broken' ? '<r><a></r>' : text,
    headers: { 'content-type': 'application/xml' },
  }))
  expect(await call(http.query, { url, decode: true })).toEqual({
    body: text,
    dict: [{ a: 'b & c' }, { n: ['1', { n: '2' }], e: null }, { q: 'd' }],
  })
  await expect(call(http.query, { url: `${url}broken`, decode: true })).rejects.toThrow('not valid XML')
})

test.each([
  ['a type of document', '<!DOCTYPE r [<!ELEMENT r ANY>]><r><a>b</a></r>', [{ a: 'b' }]],
  ['names of JavaScript', '<r><l><__proto__>b</__proto__></l></r>', [{ ['__proto__']: 'b' }]],
  ['the same name often', `<r><l>${'<n/>'.repeat(3)}</l></r>`, [{ n: [null, { n: null }, { n: null }] }]],
])('http.query decodes XML with %s', async (_, text, dict) => {
  const url = await serve(() => ({ text }))
  expect(await call(http.query, { url, decode: true, decode_type: 'xml' })).toEqual({ body: text, dict })
})

test.each([
  ['a comment without an end', '<r><!-- </r>', 'not valid XML'],
  ['a closing tag without an opening one', '<r></a></r>', 'not valid XML'],
  ['very many levels', '<a>'.repeat(100_000) + '</a>'.repeat(100_000), 'more than 1000 elements'],
])('http.query refuses XML with %s', SLOW, async (_, text, message) => {
  const url = await serve(() => ({ text }))
  await expect(call(http.query, { url, decode: true, decode_type: 'xml' })).rejects.toThrow(message)
})

test('http.query fails if the server switches to another protocol', async () => {
  const server = createServer().on('request', (_, response) => {
    response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect(await call(http.query, { url })).toEqual({
    error: expect.stringContaining('it closed the connection'),
  })
  server.close()
})

test('http.query returns bytes without decode_body, but text if the encoding is given', async () => {
  const url = await serve(({ path }) => ({
    text: 'a',
    headers: { 'content-type': path === '/named' ? 'text/plain; charset=utf-8' : 'text/plain' },
  }))
  expect(await call(http.query, { url, decode_body: false })).toEqual({ body: Buffer.from('a') })
  expect(await call(http.query, { url: `${url}named`, decode_body: false })).toEqual({ body: 'a' })
})

test('http.query sends data as a file in a form with the backend requests', async () => {
  const url = await serve(({ body, headers }) => ({ text: `${headers['content-type']} ${body}` }))
  const given = { url, method: 'POST', data: 'x', formdata: true }
  const named = { ...given, backend: 'requests', formdata_fieldname: 'f', formdata_filename: 'n"' }
  expect(await call(http.query, named)).toEqual({
    body: expect.stringMatching(
      /^multipart\/form-data; boundary=(\w+) --\1\r\n.* name="f"; filename="n%22"\r\n\r\nx\r\n--\1--/,
    ),
  })
  expect(await call(http.query, { ...given, backend: 'requests' })).toEqual({
    error: 'formdata_fieldname is required when formdata=True',
  })
  expect(await call(http.query, given)).toEqual({ body: 'application/x-www-form-urlencoded x' })
})

test('http.query fails for an error of the server with the backend requests', async () => {
  const url = await serve(() => ({ status: 404 }))
  await expect(call(http.query, { url, backend: 'requests' })).rejects.toThrow(
    `404 Client Error: Not Found for url: ${url}`,
  )
})

test('http.query sends nothing with test, or a request to the URL of the test', async () => {
  const paths: string[] = []
  const url = await serve(({ path }) => {
    paths.push(path)
    return { text: 'a' }
  })
  expect(await call(http.query, { url, test: true })).toEqual({})
  expect(await call(http.query, { url, test: true, test_url: `${url}try` })).toEqual({
    test: true,
    body: 'a',
  })
  expect(paths).toEqual(['/try'])
})

test('http.query sends the cookies of the last answer in a session', async () => {
  const folder = await temporaryFolder('salt-ts-http-')
  const url = await serve(({ headers }) => ({
    text: headers.cookie ?? 'none',
    headers: { 'set-cookie': 'a=b; Path=/' },
  }))
  const given = { url, persist_session: true, session_cookie_jar: join(folder, 'jar') }
  expect(await call(http.query, given)).toEqual({ body: 'none' })
  expect(await call(http.query, given)).toEqual({ body: 'a=b; Path=/' })
  expect((await stat(given.session_cookie_jar)).mode & 0o777).toBe(0o600)
  await writeFile(given.session_cookie_jar, 'junk')
  await expect(call(http.query, given)).rejects.toThrow('jar is no file of a session')
  await removeFolder(folder)
})

test('http.query keeps the headers of an answer in a file that exists', async () => {
  const folder = await temporaryFolder('salt-ts-http-')
  const headers_out = join(folder, 'headers')
  const url = await serve(() => ({ headers: { 'x-own': 'yes' } }))
  await call(http.query, { url, headers_out })
  await expect(readFile(headers_out)).rejects.toThrow('ENOENT')
  await writeFile(headers_out, '')
  await call(http.query, { url, headers_out })
  expect(await readFile(headers_out, 'utf8')).toContain('X-Own: yes\n')
  await removeFolder(folder)
})

test('http.query decompresses an answer, but not beyond max_body', async () => {
  const packed = gzipSync('a'.repeat(1000)).toString('latin1')
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from(packed, 'latin1')),
  )
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect(await call(http.query, { url })).toEqual({ body: 'a'.repeat(1000) })
  expect(await call(http.query, { url, max_body: 500 })).toMatchObject({
    error: expect.stringContaining('more than 500 bytes'),
  })
  server.close()
})

test('http.query checks certificates by ca_bundle, or not at all with verify_ssl=False', SLOW, async () => {
  const folder = await temporaryFolder('salt-ts-http-')
  const { cert, key } = await selfSigned(folder)
  const pair = { cert: await readFile(cert), key: await readFile(key) }
  server = await httpServer(() => ({ text: 'hello' }), { cert: pair })
  const { url } = server
  const untrusted = {
    error: '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate',
  }
  expect(await call(http.query, { url })).toEqual(untrusted)
  expect(await call(http.query, { url, verify_ssl: false })).toEqual({ body: 'hello' })
  expect(await call(http.query, { url, verify_ssl: false, cert: [cert, key] })).toEqual({ body: 'hello' })
  expect(await call(http.query, { url, ca_bundle: cert })).toEqual({ body: 'hello' })
  expect(await call(http.query, { url }, fakeContext({ opts: { ca_bundle: cert } }))).toEqual({
    body: 'hello',
  })
  expect(await call(http.query, { url, ca_bundle: join(folder, 'none') })).toEqual({
    error: '[Errno 2] No such file or directory',
  })
  await removeFolder(folder)
})

test('http.query does not write through a link of another user', needs(ROOT), async () => {
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

  test('asks until the server succeeds', async () => {
    let asked = 0
    const url = await serve(() => ({ status: ++asked < 3 ? 503 : 200, text: String(asked) }))
    expect(await call(http.wait_for_successful_query, { url, ...soon })).toEqual({ body: '3' })
  })

  test('returns the last answer after the time-out, or that there is none', async () => {
    const url = await serve(() => ({ status: 500 }))
    const given = { url, wait_for: 0, ...soon }
    expect(await call(http.wait_for_successful_query, given)).toMatchObject({
      error: 'HTTP 500: Internal Server Error',
    })
    await server?.close()
    expect(await call(http.wait_for_successful_query, given)).toEqual({
      error: '[Errno 111] Connection refused',
    })
  })

  test('is ended with its job', async () => {
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

test('update_ca_bundle replaces the file by downloaded certificates, and only by certificates', async () => {
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

test('http.query refuses rendered headers that are no map', async () => {
  const context = fakeContext({ call: (async () => null) as unknown as Context['call'] })
  const given = { url: 'http://127.0.0.1:1/', header_file: '/headers', header_render: true }
  await expect(call(http.query, given, context)).rejects.toThrow('/headers is rendered to neither')
})
