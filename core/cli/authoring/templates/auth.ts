import type { Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** How ${name} recognizes users, in a sentence. */
import { scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { auth } from 'salt-ts'

/** Length of a hash, in bytes. */
const LENGTH = 32
/** Compared with for an unknown user, who then waits as long as a known one. */
const NOBODY = \`:\${'0'.repeat(2 * LENGTH)}\`

const hashOf = promisify<string, string, number, Buffer>(scrypt)
const usersIn = ({ users }: Readonly<Record<string, unknown>>) => new Map(Object.entries(users ?? {}))

/**
 * Users in the configuration of the master: \`external_auth: {${name}: {^users: {ada: 'SALT:HASH'}}}\`. This prints SALT:HASH:
 * node -p "s = crypto.randomUUID(), s + ':' + require('crypto').scryptSync('PASSWORD', s, 32).toString('hex')"
 */
export default auth({
  async authenticate({ username, password }, { settings }) {
    if (typeof username !== 'string' || typeof password !== 'string')
      return { refused: 'the name or the password is not text' }
    const [salt = '', hash = ''] = String(usersIn(settings).get(username) ?? NOBODY).split(':')
    const isRight = timingSafeEqual(await hashOf(password, salt, LENGTH), Buffer.from(hash, 'hex'))
    return isRight ? { name: username } : { refused: 'the name or the password is wrong' }
  },
  /** The master logs these sentences when it starts. */
  async check({ settings }) {
    const isWrong = (entry: unknown) => !/^[\\w-]+:[\\da-f]{64}$/.test(String(entry))
    const wrong = [...usersIn(settings)].filter(([, entry]) => isWrong(entry))
    return wrong.map(([user]) => \`The entry of \${user} in external_auth.${name} is not SALT:HASH.\`)
  },
})
`,
  test: (name) => `import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { fakeLog } from 'salt-ts/testing'
import plugin from './${name}.ts'

const users = { ada: \`salt:\${scryptSync('secret', 'salt', 32).toString('hex')}\` }
const facts = { opts: {}, settings: { users }, log: fakeLog().log, signal: new AbortController().signal }

test('recognizes a user by the password', async () => {
  assert.deepEqual(await plugin.authenticate({ username: 'ada', password: 'secret' }, facts), { name: 'ada' })
})

test('refuses a wrong password, an unknown user and what is not text', async () => {
  for (const [username, password] of [['ada', 'wrong'], ['bob', 'secret'], ['ada', ['secret']]])
    assert.ok('refused' in (await plugin.authenticate({ username, password }, facts)))
})

test('reports an entry that is no hash', async () => {
  assert.deepEqual(await plugin.check?.(facts), [])
  const settings = { users: { ...users, bob: 'secret' } }
  assert.match(String(await plugin.check?.({ ...facts, settings })), /The entry of bob/)
})
`,
  tryOut: (name) =>
    `npx salt -a ${name} '*' test.ping  # where the master's configuration has module_dirs and external_auth`,
}
