import { inspect } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import type { AuthBackend, Authenticated, AuthFacts, Credentials } from '../../core/author/auth.ts'
import { openLoader } from '../../core/loader/index.ts'
import { type LogLine, recordingLog } from '../../core/testing/recording-log.ts'
import { type Need, needs } from '../harness/needs.ts'
import { treeOf } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

type Fields = Readonly<Record<string, unknown>>

/** Where a backend finds what it needs. */
export interface Setup {
  /** Options of the master. */
  readonly opts?: Fields
  /** What stands in `external_auth.<backend>` with a `^`. */
  readonly settings?: Fields
}

interface Prepared extends Setup {
  /** Who can sign in, with {@link PASSWORD} if the backend takes passwords; and what is then known. */
  readonly right: Credentials
  readonly known: Authenticated
  drop(): Promise<unknown>
}

export interface BackendUnderTest {
  readonly name: string
  /** What it needs of this machine. */
  readonly needs?: Need
  prepare(): Promise<Prepared>
  /** Credentials of somebody with another password, if that is not the member `password`. */
  wrong?(right: Credentials): Credentials
  /** Lets everybody in who has a name. */
  readonly open?: true
  /** Takes every name with the secret. */
  readonly anyName?: true
  /** The name is in what is shown, so that another one is refused. */
  readonly namedInside?: true
  /** Setups in which nobody can say who it is, by what is wrong; each with what is then said. Times out after a second. */
  unusable?(
    prepared: Prepared,
  ): Promise<Readonly<Record<string, { readonly setup: Setup; readonly says: RegExp }>>>
  /** Setups that can never work, by what is wrong; each with a sentence that `check` says about it. */
  readonly wrongSetups?: (
    prepared: Prepared,
  ) => Readonly<Record<string, { readonly setup: Setup; readonly says: string }>>
}

/** In every sentence that has it, something secret is shown. */
const CANARY = 'c4n4ry'
export const PASSWORD = `${CANARY} Grüße '"%s{1}$`

/** What somebody may type, or send, who wants to be somebody else. */
const ODD_NAMES: Readonly<Record<string, string>> = {
  'a wildcard': '*',
  'any name in a filter': '*)(uid=*',
  'a filter of its own': 'fred)(|(uid=*',
  'a name in a distinguished name': 'fred,ou=People',
  SQL: `fred' OR '1'='1`,
  'SQL that ends': `fred' -- `,
  'SQL in double quotes': 'fred" OR "1"="1',
  'a backslash at the end': 'fred\\',
  'a place for a value': '%s',
  'another place for a value': '{0}',
  'a template': '{{ username }}',
  'a group': 'fred%',
  'a regular expression': '.*',
  unicode: 'фред',
  'a letter that looks like another': 'frеd',
  NUL: 'fred\0',
  'a line break': 'fred\nroot:x:0',
  'a blank at its end': 'fred ',
  'a blank at its beginning': ' fred',
  'a separator of fields': 'fred:',
  'a comment': '#fred',
  '10 kB': 'x'.repeat(10_000),
  'half a character': 'fred\ud800',
  'text written backwards': 'fred\u202e',
  nothing: '',
}

const ODD_PASSWORDS: Readonly<Record<string, string>> = {
  nothing: '',
  'a wildcard': '*',
  SQL: `' OR '1'='1`,
  'more after a NUL': `${PASSWORD}\0`,
  'a line break after it': `${PASSWORD}\n`,
  'its beginning': PASSWORD.slice(0, -1),
  'a letter more': `${PASSWORD}x`,
  '10 kB': CANARY.repeat(1667),
}

const NO_TEXT: readonly unknown[] = [
  undefined,
  null,
  1,
  true,
  ['fred'],
  { username: 'fred' },
  Buffer.from('fred'),
]

/** Settings a caller may wish for. */
const WISHES = {
  service: 'other',
  filename: '/etc/passwd',
  url: 'http://127.0.0.1:1/',
  settings: { service: 'other' },
  opts: {},
  groups: ['wheel'],
  name: 'root',
  permissions: ['.*'],
  external_auth: {},
  eauth: 'auto',
  __proto__: { groups: ['wheel'] },
}

/** A backend as a master has it, with all that it says. */
export function openBackend(name: string) {
  const lines: LogLine[] = []
  const log = recordingLog((level, message, facts) => {
    if (level !== 'debug') lines.push({ level, message, facts })
  })
  const said: unknown[] = []
  const loaded = openLoader('auth', { config: {}, log }).plugin<AuthBackend>(name)
  const factsOf = ({ opts = {}, settings = {} }: Setup): Omit<AuthFacts, 'signal'> => ({
    opts: { external_auth: { [name]: {} }, ...opts },
    settings,
    log,
  })
  return {
    lines,
    said,
    async ask(credentials: Credentials, setup: Setup, signal = new AbortController().signal) {
      const backend = await loaded
      try {
        const answer = await backend.authenticate(watched(credentials, backend), {
          ...factsOf(setup),
          signal,
        })
        said.push(answer)
        return answer
      } catch (error) {
        said.push(error)
        throw error
      }
    },
    check: async (setup: Setup) => (await (await loaded).check?.(factsOf(setup))) ?? [],
    close: async () => (await loaded).close?.(),
  }
}

/** A member it does not declare would never reach it. */
const watched = (credentials: Credentials, { credentials: more = [] }: AuthBackend): Credentials =>
  new Proxy(credentials, {
    get(target, name) {
      if (!['username', 'password', ...more].includes(String(name)))
        throw new Error(`it looks at ${String(name)}, which it does not declare`)
      return Reflect.get(target, name)
    },
  })

const REFUSED = { refused: expect.stringMatching(/\w/) }

/** Helper processes of backends. */
const helpersOf = (name: string) =>
  treeOf(process.pid).filter(
    ({ command }) => command.startsWith(`salt auth ${name}`) || /-process\.js$/.test(command),
  )

/** What every backend of `external_auth` must do. */
export async function authContract(tested: BackendUnderTest): Promise<void> {
  const { name, open, anyName } = tested
  const wrong = tested.wrong ?? ((right: Credentials) => ({ ...right, password: `${CANARY} another` }))
  if (tested.needs && !tested.needs.isMet)
    return test(`the backend ${name} is tested with what it needs`, needs(tested.needs), () => {})
  const prepared = await tested.prepare()
  const { right, known } = prepared
  const unusable = (await tested.unusable?.(prepared)) ?? {}

  const backend = openBackend(name)
  // Of the file: it was prepared also if other tests are all that runs of it.
  afterAll(async () => {
    await backend.close()
    await prepared.drop()
  })

  describe(`the backend ${name}`, () => {
    const ask = (credentials: Credentials, setup: Setup = prepared) => backend.ask(credentials, setup)
    test('accepts a correct configuration', async () => {
      expect(await backend.check(prepared)).toEqual([])
    })

    test('accepts a user with the right password, and returns the name', async () => {
      expect(await ask(right)).toEqual(known)
      expect(await ask(right)).toEqual(known)
    })

    test('ignores members that it does not read: a client cannot choose a setting, a group or another name', async () => {
      expect(await ask({ ...WISHES, ...right })).toEqual(known)
      if (!open) expect(await ask({ ...WISHES, ...wrong(right) })).toEqual(REFUSED)
    })

    if (!open)
      test('refuses a wrong password', async () => {
        expect(await ask(wrong(right))).toEqual(REFUSED)
      })

    if (!open && !anyName)
      test('refuses an unknown user', async () => {
        expect(await ask({ ...right, username: 'nobody_of_that_name' })).toEqual(REFUSED)
      })

    const names = Object.entries(ODD_NAMES).filter(([what]) => !(open || anyName) || !isName(what))
    test.each(names)('refuses a name that is %s', async (_, username) => {
      // Who shows a token need not say a name.
      if (tested.namedInside && username === '') return
      expect(await ask({ ...right, username })).toEqual(REFUSED)
    })

    const passwords = open ? [] : Object.entries(ODD_PASSWORDS)
    test.each(passwords)('refuses a password that is %s', async (_, password) => {
      const { username } = right
      expect(await ask({ username, password })).toEqual(REFUSED)
    })

    test('refuses names and passwords that are not text', async () => {
      for (const value of NO_TEXT) {
        if (!(tested.namedInside && value === undefined))
          expect(await ask({ ...right, username: value })).toEqual(REFUSED)
        if (!open) expect(await ask({ username: right.username, password: value })).toEqual(REFUSED)
      }
      expect(await ask({})).toEqual(REFUSED)
    })

    test('answers many requests at once, each on its own', async () => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) => ask(n % 2 === 0 ? right : wrong(right))),
      )
      expect(answers).toEqual(answers.map((_, n) => (n % 2 === 0 || open ? known : REFUSED)))
    })

    const setups = Object.entries(tested.wrongSetups?.(prepared) ?? {})
    test.each(setups)('reports at the start of a master that %s', async (_, { setup, says }) => {
      expect((await backend.check(setup)).join('\n')).toContain(says)
      await expect(ask(right, setup)).rejects.toThrow(/\w/)
    })

    test.each(Object.entries(unusable))('rejects with a sentence when %s', async (_, { setup, says }) => {
      await expect(ask(right, setup)).rejects.toThrow(says)
      await expect(ask(wrong(right), setup)).rejects.toThrow(says)
      expect(await ask(right)).toEqual(known)
    })

    test('accepts users again after it was closed, and leaves no process behind', async () => {
      await ask(right)
      await backend.close()
      await until('its processes to be gone', () => helpersOf(name).length === 0)
      expect(await ask(right)).toEqual(known)
      await backend.close()
      await until('its processes to be gone', () => helpersOf(name).length === 0)
    })

    test('shows no password in messages and logs', () => {
      expect(inspect({ said: backend.said, lines: backend.lines }, { depth: 10 })).not.toContain(CANARY)
    })
  })
}

/** Names that a backend without users of its own has no reason to refuse. */
const isName = (what: string): boolean =>
  !['a group', 'NUL', 'a line break', '10 kB', 'half a character', 'nothing'].includes(what) &&
  !/blank|backwards|ends$/.test(what)
