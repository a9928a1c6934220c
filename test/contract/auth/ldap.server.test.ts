import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs, program } from '../../harness/needs.ts'
import { freePort } from '../../harness/ports.ts'
import type { TestServer } from '../../harness/server.ts'
import { LDAP_BASE, ldapHash, startSlapd } from '../../harness/slapd.ts'
import { authContract, openBackend, PASSWORD, type Setup } from '../auth.ts'

const PEOPLE = `ou=People,${LDAP_BASE}`
const ACCOUNT = { name: `uid=looks,${PEOPLE}`, password: 'the password of looks' }

const person = (uid: string, password: string, ...more: string[]) => [
  ...[
    `dn: uid=${uid.replace(/[,+]/g, '\\$&')},${PEOPLE}`,
    'objectClass: inetOrgPerson',
    `uid: ${uid}`,
    `sn: ${uid}`,
    `cn: ${uid}`,
  ],
  `userPassword: ${ldapHash(password)}`,
  ...more,
  '',
]
const unit = (name: string) => [`dn: ou=${name},${LDAP_BASE}`, 'objectClass: organizationalUnit', '']
const posixGroup = (cn: string, gid: number, ...members: string[]) => [
  ...[`dn: cn=${cn},${LDAP_BASE}`, 'objectClass: posixGroup', `gidNumber: ${gid}`],
  ...members.map((member) => `memberUid: ${member}`),
  '',
]
const namedGroup = (cn: string, ...members: string[]) => [
  ...[`dn: cn=${cn.replace(',', '\\,')},ou=Teams,${LDAP_BASE}`, 'objectClass: groupOfNames'],
  ...members.map((member) => `member: ${member}`),
  '',
]

const entries = () =>
  [
    ...[`dn: ${LDAP_BASE}`, 'objectClass: dcObject', 'objectClass: organization', 'o: example', ''],
    ...[...unit('People'), ...unit('Groups'), ...unit('Teams')],
    ...person('looks', ACCOUNT.password),
    ...person('fred', PASSWORD, 'mail: fred@example.com', `memberOf: cn=ops,ou=Teams,${LDAP_BASE}`),
    ...person('ada,+ (*)', PASSWORD),
    ...person('twin1', PASSWORD, 'mail: twins@example.com'),
    ...person('twin2', PASSWORD, 'mail: twins@example.com'),
    ...[...posixGroup('admins,ou=Groups', 1, 'fred', 'looks'), ...posixGroup('others,ou=Groups', 2, 'looks')],
    ...posixGroup('night,ou=Teams', 3, 'fred'),
    ...namedGroup('ops', `uid=fred,${PEOPLE}`),
    ...namedGroup('ops, night', `uid=fred,${PEOPLE}`, `uid=looks,${PEOPLE}`),
  ].join('\n')

const options = (port: number, more: Readonly<Record<string, unknown>> = {}): Setup => ({
  opts: Object.fromEntries(
    Object.entries({ server: '127.0.0.1', port, basedn: LDAP_BASE, timeout: 5, ...more }).map(
      ([name, value]) => [`auth.ldap.${name}`, value],
    ),
  ),
})

const SEARCH = { binddn: ACCOUNT.name, bindpw: ACCOUNT.password, filter: '(uid={{ username }})' }
const fred = { username: 'fred', password: PASSWORD }

/** Says nothing. */
function silent(): Promise<Server> {
  const server = createServer()
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)))
}
const portOf = (server: Server) => (server.address() as { port: number }).port

const doubles: Server[] = []
const servers: TestServer[] = []
afterAll(async () => {
  for (const server of doubles) server.close()
  await Promise.all(servers.map((server) => server.drop()))
})

for (const [how, more] of Object.entries({
  'by a search': SEARCH,
  'by a template': { binddn: `uid={{username}},${PEOPLE}` },
}))
  describe(`users found ${how}`, async () => {
    await authContract({
      name: 'ldap',
      needs: program('slapd'),
      async prepare() {
        const server = await startSlapd('ldap', entries())
        servers.push(server)
        return {
          ...options(server.port, more),
          right: fred,
          known: { name: 'fred', groups: ['admins', 'ops'] },
          drop: async () => {},
        }
      },
      wrongSetups: () => ({
        'a filter would find the same for all': {
          setup: options(1, { ...SEARCH, filter: '(uid=*)' }),
          says: 'auth.ldap.filter has no {{ username }}: it would find the same entries for every user.',
        },
        'a template has more of Jinja in it': {
          setup: options(1, { binddn: `uid={{ username|upper }},${PEOPLE}` }),
          says: 'auth.ldap.binddn has Jinja other than {{ username }}',
        },
        'TLS is wanted in two ways': {
          setup: options(1, { ...SEARCH, tls: true, starttls: true }),
          says: 'exclude each other',
        },
        'passwords would not be checked': {
          setup: options(1, { ...SEARCH, auth_by_group_membership_only: true }),
          says: 'a password is always checked',
        },
        'the address is no address': {
          setup: options(1, { ...SEARCH, uri: 'ldapi:///' }),
          says: 'auth.ldap.uri must be one address',
        },
        'it is not said with whom to bind': { setup: options(1), says: 'auth.ldap.binddn is missing' },
      }),
      async unusable() {
        const hanging = await silent()
        doubles.push(hanging)
        return {
          'the server is away': {
            setup: options(await freePort(), more),
            says: /^LDAP at 127\.0\.0\.1:\d+: .*ECONNREFUSED/,
          },
          'the server says nothing': {
            setup: options(portOf(hanging), { ...more, timeout: 1 }),
            says: /^LDAP at 127\.0\.0\.1:\d+: no answer within 1 seconds$/,
          },
        }
      },
    })
  })

describe('ldap', needs(program('slapd')), () => {
  let server: TestServer
  let secure: TestServer
  const { ask, check, lines } = openBackend('ldap')
  beforeAll(async () => {
    ;[server, secure] = await Promise.all([startSlapd('ldap', entries()), startSlapd('ldaps', entries())])
  })
  afterAll(async () => {
    await server.drop()
    await secure.drop()
  })
  const search = (more = {}) => options(server.port, { ...SEARCH, ...more })

  test('escapes special characters in filters and names: a user with such a name can sign in, and as no other user', async () => {
    const odd = { username: 'ada,+ (*)', password: PASSWORD }
    expect(await ask(odd, search())).toMatchObject({ name: 'ada,+ (*)' })
    expect(await ask(odd, options(server.port, { binddn: `uid={{ username }},${PEOPLE}` }))).toMatchObject({
      name: 'ada,+ (*)',
    })
    expect(await ask({ ...odd, username: 'ada*' }, search())).toEqual({
      refused: 'the directory has no such user',
    })
  })

  test('returns the name of a user as the directory has it, however the name was typed', async () => {
    for (const setup of [search(), options(server.port, { binddn: `uid={{ username }},${PEOPLE}` })])
      expect(await ask({ ...fred, username: 'FrEd' }, setup)).toEqual({
        name: 'fred',
        groups: ['admins', 'ops'],
      })
    expect(
      await ask(
        { ...fred, username: 'fred@example.com' },
        search({ filter: '(|(uid={{ username }})(mail={{ username }}))' }),
      ),
    ).toMatchObject({ name: 'fred@example.com' })
  })

  test('refuses a name that matches two users', async () => {
    expect(
      await ask(
        { username: 'twins@example.com', password: PASSWORD },
        search({ filter: 'mail={{ username }}' }),
      ),
    ).toEqual({ refused: 'auth.ldap.filter finds more than one user of that name' })
  })

  test('finds users without a bind account where the directory allows it, and checks their password', async () => {
    const setup = options(server.port, { anonymous: true, filter: 'uid={{ username }}' })
    expect(await ask(fred, setup)).toMatchObject({ name: 'fred' })
    expect(await ask({ ...fred, password: 'wrong' }, setup)).toEqual({
      refused: 'the directory refuses this password',
    })
  })

  test('finds groups in the layout of Active Directory', async () => {
    const setup = search({
      activedirectory: true,
      accountattributename: 'uid',
      persontype: 'inetOrgPerson',
      groupclass: 'groupOfNames',
    })
    expect(await ask(fred, setup)).toEqual({ name: 'fred', groups: ['ops', 'ops, night'] })
  })

  test('finds groups anywhere below the base if they have no unit of their own', async () => {
    const groups = async (more: Readonly<Record<string, unknown>>) => ask(fred, search(more))
    expect(await groups({ groupou: 'Teams' })).toEqual({ name: 'fred', groups: ['night', 'ops'] })
    expect(await groups({ groupou: '' })).toEqual({ name: 'fred', groups: ['admins', 'night', 'ops'] })
    expect(await groups({ groupou: 'Teams', group_basedn: `ou=Groups,${LDAP_BASE}` })).toEqual({
      name: 'fred',
      groups: ['admins', 'ops'],
    })
  })

  test('finds groups in the layout of FreeIPA', async () => {
    const setup = search({
      freeipa: true,
      group_basedn: `ou=Teams,${LDAP_BASE}`,
      groupattribute: 'member',
      group_filter: `(&(member=uid={{ username }},${PEOPLE})(objectClass=groupOfNames))`,
    })
    expect(await ask(fred, setup)).toEqual({ name: 'fred', groups: ['ops', 'ops, night'] })
  })

  test('reports that its own bind account is wrong, not the one of the user', async () => {
    await expect(ask(fred, search({ bindpw: 'old' }))).rejects.toThrow(
      `LDAP at 127.0.0.1:${server.port}: the server refuses auth.ldap.bindpw for ${ACCOUNT.name}`,
    )
  })

  test.each(['tls', 'starttls'])('checks certificates with %s', async (how) => {
    const { port, folder } = how === 'tls' ? secure : server
    const more = { ...SEARCH, [how]: true }
    await expect(ask(fred, options(port, more))).rejects.toThrow('self-signed certificate')
    const ca_file = join(folder, 'cert.pem')
    for (const host of ['127.0.0.1', 'localhost'])
      expect(await ask(fred, options(port, { ...more, ca_file, server: host }))).toMatchObject({
        name: 'fred',
      })
    expect(await ask(fred, options(port, { ...more, no_verify: true }))).toMatchObject({ name: 'fred' })
  })

  test('sends no password without TLS to a server that ends the connection right after STARTTLS', async () => {
    const heard: string[] = []
    const thief = createServer((socket: Socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        heard.push(bytes.toString('latin1'))
        socket.end()
      })
    })
    await new Promise<void>((done) => thief.listen(0, '127.0.0.1', done))
    const setup = options(portOf(thief), { ...SEARCH, starttls: true, timeout: 2 })
    await expect(ask(fred, setup)).rejects.toThrow('LDAP at 127.0.0.1')
    expect(heard.join('')).toContain('1.3.6.1.4.1.1466.20037')
    expect(heard.join('')).not.toContain(ACCOUNT.password)
    await new Promise((done) => thief.close(done))
  })

  test('warns if passwords can be read on the network, or be sent to a forged server', async () => {
    await check(search())
    expect(lines).toEqual([])
    await check(options(389, { ...SEARCH, server: 'ldap.example.com' }))
    await check(options(636, { ...SEARCH, tls: true, no_verify: true }))
    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('anybody on the network path to ldap.example.com:389 can read passwords'),
      expect.stringContaining('any server that poses as 127.0.0.1:636 receives passwords'),
    ])
  })
})
