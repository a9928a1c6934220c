import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type Asked, type HttpServer, httpServer, type Told } from '../../harness/http-server.ts'
import { freePort } from '../../harness/ports.ts'
import { authContract, openBackend, PASSWORD } from '../auth.ts'

const fred = { username: 'fred', password: PASSWORD }

function answer({ method, headers, body }: Asked): Told {
  const form = new URLSearchParams(body)
  if (method !== 'POST' || headers['content-type'] !== 'application/x-www-form-urlencoded')
    return { status: 500 }
  if (form.get('username') !== 'fred' || form.get('password') !== PASSWORD) return { status: 401 }
  return { text: '["test.*", {"web*": ["pkg.*"]}]' }
}

const opened: HttpServer[] = []
const served = async (...args: Parameters<typeof httpServer>): Promise<string> => {
  const server = await httpServer(...args)
  opened.push(server)
  return server.url
}
afterAll(() => Promise.all(opened.map((server) => server.close())))

await authContract({
  name: 'rest',
  async prepare() {
    const url = await served(answer)
    return {
      settings: { url },
      right: fred,
      known: { name: 'fred', permissions: ['test.*', { 'web*': ['pkg.*'] }] },
      drop: async () => {},
    }
  },
  wrongSetups: () => ({
    'no address is named': { setup: {}, says: 'external_auth.rest.^url is missing.' },
    'the address is no address': {
      setup: { settings: { url: 'auth.example.com' } },
      says: 'must be an address that begins with',
    },
    'the address is not of a web server': {
      setup: { settings: { url: 'ftp://auth.example.com/' } },
      says: 'must be an address that begins with',
    },
  }),
  async unusable() {
    const [silent, failing, wrong, endless, elsewhere] = await Promise.all([
      served(() => undefined),
      served(() => ({ status: 503 })),
      served(() => ({ text: '{"fred": ["*"]}' })),
      served(() => ({ text: ' '.repeat(2 * 1024 * 1024) })),
      served(() => ({ status: 307, headers: { location: opened[0]?.url ?? '' } })),
    ])
    return {
      'the server is away': {
        setup: { settings: { url: `http://127.0.0.1:${await freePort()}/` } },
        says: /^127\.0\.0\.1:\d+: .*ECONNREFUSED/,
      },
      'the server says nothing': {
        setup: { settings: { url: silent, timeout: 1 } },
        says: /: no answer within 1 seconds$/,
      },
      'the server fails': { setup: { settings: { url: failing } }, says: /: it answered 503$/ },
      'the answer is no list': {
        setup: { settings: { url: wrong } },
        says: /: its answer is not a list of permissions$/,
      },
      'the answer has no end': {
        setup: { settings: { url: endless } },
        says: /: the answer is longer than 1048576 bytes$/,
      },
      'it is sent elsewhere': {
        setup: { settings: { url: elsewhere } },
        says: /: it answered 307: redirects are not followed/,
      },
    }
  },
})

describe('rest', () => {
  const { ask, check, lines } = openBackend('rest')
  let folder: string
  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-auth-rest-')
  })
  afterAll(() => removeFolder(folder))

  test('accepts null, no body and an empty list as a known user without permissions', async () => {
    for (const text of ['null', '', '[]'])
      expect(await ask(fred, { settings: { url: await served(() => ({ text })) } })).toEqual({ name: 'fred' })
  })

  test.each([401, 403])('refuses a user if the server answers %s, whatever the body is', async (status) => {
    const url = await served(() => ({ status, text: '[".*"]' }))
    expect(await ask(fred, { settings: { url } })).toEqual({
      refused: expect.stringContaining('refuses the username or the password'),
    })
  })

  test.each([201, 204, 206, 400, 404, 407, 429])('counts the status %s as no answer', async (status) => {
    const url = await served(() => ({ status, text: status === 204 ? '' : '[".*"]' }))
    await expect(ask(fred, { settings: { url } })).rejects.toThrow(`: it answered ${status}`)
  })

  test.each(['<html>', '[".*"', 'false', '0', '""', '"test.*"', '{}'])(
    'counts %s as no answer',
    async (text) => {
      const url = await served(() => ({ text }))
      await expect(ask(fred, { settings: { url } })).rejects.toThrow(/: its answer is not (?:JSON|a list)/)
    },
  )

  test('sends no password to an address of a redirect', async () => {
    const heard: string[] = []
    const thief = await served(({ body }) => {
      heard.push(body)
      return { text: '[]' }
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await served(() => ({ status, headers: { location: thief } }))
      await expect(ask(fred, { settings: { url } })).rejects.toThrow('redirects are not followed')
    }
    expect(heard).toEqual([])
  })

  test('checks the certificate', async () => {
    const { cert, key } = await selfSigned(folder)
    const url = await served(answer, { cert: { cert: await readFile(cert), key: await readFile(key) } })
    await expect(ask(fred, { settings: { url } })).rejects.toThrow('self-signed certificate')
    expect(await ask(fred, { settings: { url, ca_file: cert } })).toMatchObject({ name: 'fred' })
  })

  test('warns of an address without TLS, unless it is this host', async () => {
    await check({ settings: { url: 'http://localhost:8000/' } })
    expect(lines).toEqual([])
    expect(await check({ settings: { url: 'http://auth.example.com/' } })).toEqual([])
    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('anybody on the network path to auth.example.com can read passwords'),
    ])
  })
})
