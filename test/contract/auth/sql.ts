import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Need, needs } from '../../harness/needs.ts'
import { freePort } from '../../harness/ports.ts'
import type { TestServer } from '../../harness/server.ts'
import { authContract, openBackend, PASSWORD } from '../auth.ts'

export interface SqlUnderTest {
  /** Of the backend. */
  readonly name: string
  readonly needs: Need
  /** As errors call it. */
  readonly says: string
  /** The option of the master with its settings. */
  readonly option: string
  start(): Promise<TestServer>
  /** A table `users` with the columns username and password, in which fred has {@link PASSWORD} as SHA-256 in hexadecimal. */
  fill(server: TestServer): Promise<{ readonly rows: () => Promise<number> }>
  /** Of an account that may read it. */
  readonly account: { readonly username: string; readonly password: string; readonly database: string }
  /** What the server makes of a place for the password. */
  readonly digest: string
}

const fred = { username: 'fred', password: PASSWORD }

/** What a backend must do that asks a database. */
export async function sqlAuthContract(tested: SqlUnderTest): Promise<void> {
  const { name, needs: need, says, option, account, digest } = tested
  const places = (user: string, password: string) =>
    `select username from users where username = ${user} and password = ${digest.replace('?', password)}`
  const optionsFor = (port: number, more: Readonly<Record<string, unknown>> = {}) => ({
    opts: {
      [option]: {
        hostname: '127.0.0.1',
        port,
        ...account,
        auth_sql: places('%s', '%s'),
        timeout: 5,
        ...more,
      },
    },
  })
  let server: TestServer
  let rows: () => Promise<number>

  await authContract({
    name,
    needs: need,
    async prepare() {
      server = await tested.start()
      ;({ rows } = await tested.fill(server))
      return { ...optionsFor(server.port), right: fred, known: { name: 'fred' }, drop: async () => {} }
    },
    wrongSetups: () => ({
      'nothing is set': { setup: {}, says: `${option}.auth_sql is missing.` },
      'a password is not compared': {
        setup: optionsFor(1, { auth_sql: 'select username from users where username = %s' }),
        says: `${option}.auth_sql must have %s for the username and %s for the password, else anybody could log in.`,
      },
      'a value would be part of a text': {
        setup: optionsFor(1, { auth_sql: `select 1 from users where name like 'x{0}' and password = '{1}'` }),
        says: `has a placeholder inside the text 'x{0}': it must stand alone`,
      },
    }),
    async unusable(prepared) {
      return {
        'the server is away': {
          setup: optionsFor(await freePort()),
          says: new RegExp(`^${says} at 127\\.0\\.0\\.1:\\d+: .*ECONNREFUSED`),
        },
        'the server does not know its account': {
          setup: optionsFor(server.port, { password: 'old' }),
          says: new RegExp(`^${says} at 127\\.0\\.0\\.1:\\d+: .*`),
        },
        'a statement takes too long': {
          setup: optionsFor(server.port, {
            timeout: 1,
            auth_sql: `select ${name === 'mysql' ? 'sleep(20)' : 'pg_sleep(20)'} from users where %s <> %s`,
          }),
          says: /: no answer within 1 seconds$/,
        },
        'the statement is wrong': {
          setup: {
            opts: {
              ...prepared.opts,
              [option]: { ...(prepared.opts?.[option] as object), auth_sql: 'select %s %s from' },
            },
          },
          says: new RegExp(`^${says} at `),
        },
      }
    },
  })

  describe(`${name} with a server`, needs(need), () => {
    const { ask, check, close } = openBackend(name)
    beforeAll(() => expect(server).toBeDefined())
    afterAll(async () => {
      await close()
      await server.drop()
    })

    test.each([
      ['{0} and {1}', '{0}', '{1}'],
      ['{0} and {1} in quotes', "'{0}'", "'{1}'"],
      ['%s in quotes', "'%s'", "'%s'"],
    ])(
      'takes %s for the places of name and password, which travel apart from the statement',
      async (_, user, password) => {
        const setup = optionsFor(server.port, { auth_sql: places(user, password) })
        expect(await check(setup)).toEqual([])
        expect(await ask(fred, setup)).toEqual({ name: 'fred' })
        for (const injected of [
          `' or '1'='1`,
          `x' or 1=1 -- `,
          `'; drop table users; -- `,
          `\\' or 1=1 -- `,
          '") or ("1"="1',
        ])
          for (const credentials of [
            { ...fred, username: `fred${injected}`.trim() },
            { ...fred, password: injected },
            { username: injected.trim(), password: injected },
          ])
            expect(await ask(credentials, setup)).toEqual({
              refused: 'the database has no such user with this password',
            })
        expect(await rows()).toBe(3)
      },
    )

    test('refuses somebody the statement finds twice', async () => {
      expect(await ask({ ...fred, username: 'twin' }, optionsFor(server.port))).toEqual({
        refused: 'auth_sql returned more than one row',
      })
    })

    test('outlives a server that goes away and comes back', async () => {
      await server.kill()
      await expect(ask(fred, optionsFor(server.port))).rejects.toThrow('ECONNREFUSED')
      await server.start()
      expect(await ask(fred, optionsFor(server.port))).toEqual({ name: 'fred' })
    })

    test('gives up on a server that says nothing more', async () => {
      await server.pause()
      try {
        await expect(ask(fred, optionsFor(server.port, { timeout: 1 }))).rejects.toThrow(
          'no answer within 1 seconds',
        )
      } finally {
        server.resume()
      }
    })

    test('checks the certificate', async () => {
      const more = { hostname: name === 'mysql' ? 'localhost' : '127.0.0.1', ssl: true }
      await expect(ask(fred, optionsFor(server.port, more))).rejects.toThrow('self-signed certificate')
      const ssl_ca = join(server.folder, 'cert.pem')
      expect(await ask(fred, optionsFor(server.port, { ...more, ssl_ca }))).toEqual({ name: 'fred' })
      expect(await ask(fred, optionsFor(server.port, { ...more, insecure: true }))).toEqual({ name: 'fred' })
    })
  })
}
