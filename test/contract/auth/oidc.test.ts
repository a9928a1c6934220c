import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { httpServer, type Told } from '../../harness/http-server.ts'
import { freePort } from '../../harness/ports.ts'
import { SLOW } from '../../harness/slow.ts'
import { authContract, openBackend, type Setup } from '../auth.ts'

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

/** An issuer on loopback, with its keys by their ids. */
async function issuer(more: (path: string) => Told | undefined = () => undefined) {
  const keys = new Map<string, KeyPair>()
  const asked: string[] = []
  const server = await httpServer(async ({ path }) => {
    asked.push(path)
    const told = more(path)
    if (told) return told
    if (path === '/.well-known/openid-configuration')
      return { text: JSON.stringify({ issuer: server.url, jwks_uri: `${server.url}keys` }) }
    const all = [...keys].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      use: 'sig',
    }))
    return path === '/keys' ? { text: JSON.stringify({ keys: await Promise.all(all) }) } : { status: 404 }
  })
  const add = async (kid: string, alg = 'RS256') => {
    const pair = await generateKeyPair(alg, { extractable: true })
    keys.set(kid, pair)
    return pair
  }
  await add('first')
  const token = (
    claims: JWTPayload = {},
    { kid = 'first', alg = 'RS256', key = keys.get(kid)?.privateKey } = {},
  ) =>
    new SignJWT({
      iss: server.url,
      aud: 'salt',
      sub: 'fred',
      groups: ['ops', 17, 'web'],
      iat: seconds(),
      exp: seconds() + 300,
      ...claims,
    })
      .setProtectedHeader({ alg, kid })
      .sign(key!)
  return { ...server, keys, asked, add, token, settings: { issuer: server.url, audience: 'salt' } }
}
const seconds = () => Math.floor(Date.now() / 1000)

const fleet = await issuer()
const right = { username: 'fred', id_token: await fleet.token() }
const known = { name: 'fred', groups: ['ops', 'web'] }

await authContract({
  name: 'oidc',
  namedInside: true,
  wrong: (credentials) => ({ ...credentials, id_token: `${right.id_token.slice(0, -8)}c4n4ryAA` }),
  async prepare() {
    return { settings: fleet.settings, right, known, drop: fleet.close }
  },
  wrongSetups: () => ({
    'no issuer is named': {
      setup: { settings: { audience: 'salt' } },
      says: 'external_auth.oidc.^issuer is missing.',
    },
    'tokens for other audiences would be accepted': {
      setup: { settings: { issuer: fleet.url } },
      says: 'external_auth.oidc.^audience is missing',
    },
    'a public key would be taken for a secret': {
      setup: { settings: { ...fleet.settings, algorithms: ['RS256', 'HS256'] } },
      says: 'external_auth.oidc.^algorithms must be some of RS256',
    },
    'tokens without a signature would be taken': {
      setup: { settings: { ...fleet.settings, algorithms: 'none' } },
      says: 'external_auth.oidc.^algorithms must be some of RS256',
    },
  }),
  async unusable() {
    const silent = await httpServer(() => undefined)
    const other = await httpServer(() => ({
      text: '{"issuer": "https://evil.example.com", "jwks_uri": "http://127.0.0.1/"}',
    }))
    const failing = await httpServer(() => ({ status: 500 }))
    const more = { audience: 'salt', timeout: 1 }
    return {
      'the issuer is away': {
        setup: { settings: { ...more, issuer: `http://127.0.0.1:${await freePort()}/` } },
        says: /ECONNREFUSED/,
      },
      'the issuer says nothing': {
        setup: { settings: { ...more, issuer: silent.url } },
        says: /: no answer within 1 seconds/,
      },
      'the issuer says that it is another': {
        setup: { settings: { ...more, issuer: other.url } },
        says: /another issuer than/,
      },
      'the issuer fails': {
        setup: { settings: { ...more, issuer: failing.url } },
        says: /openid-configuration answered 500/,
      },
      'the keys do not come': {
        setup: { settings: { ...fleet.settings, timeout: 1, jwks_uri: silent.url } },
        says: /^Keys of http:.*: no answer within 1 seconds$/,
      },
      'the keys are none': {
        setup: { settings: { ...fleet.settings, jwks_uri: failing.url } },
        says: /^Keys of http:/,
      },
    }
  },
})

describe('oidc', () => {
  const { ask, check, close, lines } = openBackend('oidc')
  let own: Awaited<ReturnType<typeof issuer>>
  let setup: Setup
  beforeAll(async () => {
    own = await issuer()
    setup = { settings: own.settings }
  })
  afterAll(() => own.close())
  afterEach(async () => {
    vi.useRealTimers()
    await close()
  })
  const signIn = async (
    token: Promise<string> | string,
    more: Readonly<Record<string, unknown>> = {},
    settings = {},
  ) => ask({ id_token: await token, ...more }, { settings: { ...own.settings, ...settings } })
  const refused = (says: string) => ({ refused: expect.stringContaining(says) })

  test('accepts the token as the password, too, for users who can only type a password', async () => {
    expect(await ask({ username: 'fred', password: await own.token() }, setup)).toEqual(known)
    expect(await ask({ username: 'ada', password: await own.token() }, setup)).toEqual(
      refused('the token belongs to another user'),
    )
  })

  test.each([
    ['has expired', { exp: seconds() - 60 }, '"exp" claim timestamp check failed'],
    ['never expires', { exp: undefined }, 'missing required "exp" claim'],
    ['is not valid yet', { nbf: seconds() + 600 }, '"nbf" claim timestamp check failed'],
    ['is for another audience', { aud: 'grafana' }, 'unexpected "aud" claim value'],
    ['has no audience', { aud: undefined }, '"aud"'],
    ['is of another issuer', { iss: 'https://evil.example.com' }, 'unexpected "iss" claim value'],
    ['has no subject', { sub: undefined }, 'the claim sub is not a valid user name'],
    ['has the name of a group as subject', { sub: 'ops%' }, 'the claim sub is not a valid user name'],
  ])('refuses a token that %s', async (_, claims, says) => {
    expect(await signIn(own.token(claims))).toEqual(refused(says))
  })

  test('refuses a token without a signature', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = part({ iss: own.url, aud: 'salt', sub: 'fred', exp: seconds() + 300 })
    for (const alg of ['none', 'None', 'NONE', ''])
      for (const signature of ['', 'AA'])
        expect(await signIn(`${part({ alg, kid: 'first' })}.${claims}.${signature}`)).toEqual(refused(' '))
  })

  test('refuses a token that is signed with the public key as if it were a secret', async () => {
    const { publicKey } = own.keys.get('first')!
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const said = `${part({ alg: 'HS256', kid: 'first' })}.${part({ iss: own.url, aud: 'salt', sub: 'fred', exp: seconds() + 300 })}`
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(await exportJWK(publicKey))]) {
      const signature = createHmac('sha256', secret).update(said).digest('base64url')
      expect(await signIn(`${said}.${signature}`)).toEqual(
        refused('"alg" (Algorithm) Header Parameter value not allowed'),
      )
    }
  })

  test(
    'refuses a token signed with a key that the issuer does not have, even if the token contains the key',
    SLOW,
    async () => {
      const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
      expect(await signIn(own.token({}, { key: privateKey }))).toEqual(
        refused('signature verification failed'),
      )
      expect(await signIn(own.token({}, { kid: 'unknown', key: privateKey }))).toEqual(
        refused('no applicable key'),
      )
      const brought = new SignJWT({ iss: own.url, aud: 'salt', sub: 'fred', exp: seconds() + 300 })
        .setProtectedHeader({
          alg: 'RS256',
          jwk: await exportJWK(publicKey),
          jku: 'https://evil.example.com/keys',
        })
        .sign(privateKey)
      expect(await signIn(brought)).toEqual(refused('signature verification failed'))
    },
  )

  test('accepts only the algorithms of its settings', async () => {
    await own.add('curve', 'ES256')
    const token = own.token({}, { kid: 'curve', alg: 'ES256' })
    expect(await signIn(token)).toEqual(known)
    expect(await signIn(token, {}, { algorithms: 'RS256' })).toEqual(refused('not allowed'))
  })

  test(
    'caches the keys, and requests them again for an unknown key, but not for every token',
    SLOW,
    async () => {
      await close()
      const askedForKeys = () => own.asked.filter((path) => path === '/keys').length
      const before = askedForKeys()
      for (let n = 0; n < 5; n++) await signIn(own.token())
      expect(askedForKeys()).toBe(before + 1)
      await own.add('second')
      own.keys.delete('first')
      const { privateKey } = await generateKeyPair('RS256')
      for (let n = 0; n < 5; n++) await signIn(own.token({}, { kid: `made-up-${n}`, key: privateKey }))
      expect(askedForKeys()).toBe(before + 1)
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
      expect(await signIn(own.token({}, { kid: 'second' }))).toEqual(known)
      expect(askedForKeys()).toBe(before + 2)
      await own.add('first')
    },
  )

  test('reads name and groups from the configured claims, also from nested ones', async () => {
    const claims = { preferred_username: 'ada', realm_access: { roles: ['admins'] }, groups: 'one' }
    const settings = { username_claim: 'preferred_username', groups_claim: 'realm_access.roles' }
    expect(await signIn(own.token(claims), {}, settings)).toEqual({ name: 'ada', groups: ['admins'] })
    expect(await signIn(own.token(claims))).toEqual({ name: 'fred', groups: ['one'] })
    expect(await signIn(own.token({ groups: undefined }))).toEqual({ name: 'fred', groups: [] })
  })

  test('accepts an e-mail address as the name only if the issuer has verified it', async () => {
    const settings = { username_claim: 'email' }
    const email = 'fred@example.com'
    expect(await signIn(own.token({ email, email_verified: true }), {}, settings)).toMatchObject({
      name: email,
    })
    expect(await signIn(own.token({ email }), {}, settings)).toEqual(refused('has not verified'))
  })

  test('uses no keys from an address without TLS if the issuer has TLS', async () => {
    const folder = await temporaryFolder('salt-ts-auth-oidc-')
    const { cert, key } = await selfSigned(folder)
    const tls = await httpServer(
      () => ({ text: JSON.stringify({ issuer: tls.url, jwks_uri: `${own.url}keys` }) }),
      { cert: { cert: await readFile(cert), key: await readFile(key) } },
    )
    try {
      const id_token = await own.token({ iss: tls.url })
      await expect(
        ask({ id_token }, { settings: { issuer: tls.url, audience: 'salt', ca_file: cert } }),
      ).rejects.toThrow('its jwks_uri is an address without TLS')
    } finally {
      await tls.close()
      await removeFolder(folder)
    }
  })

  test('does not read tokens longer than the limit', async () => {
    const long = await own.token({ more: 'x'.repeat(16_384) })
    expect(await ask({ id_token: long }, { settings: own.settings })).toEqual(refused('no token was given'))
  })

  test('warns of an issuer without TLS, which another server could impersonate', async () => {
    expect(await check({ settings: { issuer: 'http://id.example.com', audience: 'salt' } })).toEqual([])
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('can log in as any user')])
  })
})
