import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type SignInSettings, signIn } from '../../core/channel/sign-in-client.ts'
import { decode, encodeNetwork } from '../../core/codec/index.ts'
import type { PublicKey } from '../../core/crypto/index.ts'
import { tags } from '../../core/events/index.ts'
import { Invites } from '../../core/keys/index.ts'
import { verifierOf } from '../../core/keys/join-token.ts'
import { sanitize } from '../../core/log/sanitize.ts'
import { joinOf } from '../../core/minion/link/join.ts'
import { fakeLog } from '../../core/testing/recording-log.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { until } from '../harness/until.ts'

const HOUR = 3_600_000

let master: InProcessMaster
let invites: Invites
beforeEach(async () => {
  master = await InProcessMaster.open()
  invites = new Invites(master.config.pki_dir, { clock: { now: () => master.now } })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await invites.close()
  await master.close()
})

async function tokenFor(match = '*', uses = 1, signer = 'master'): Promise<string> {
  const { publicKey } = await keyPair(signer)
  return (await invites.make({ match, uses, ttlMs: HOUR, user: 'root' }, publicKey)).token
}

interface Newcomer {
  readonly id?: string
  readonly key?: string
  readonly wire?: (frame: Uint8Array) => Promise<Uint8Array>
  readonly known?: SignInSettings['known']
}

/** A minion that knows no master yet signs in with a token. */
async function join(join_token: string, newcomer: Newcomer = {}) {
  const { id = 'web1', key = 'wire1', wire = (frame) => master.answer(frame) } = newcomer
  const join = await joinOf({ join_token, join_token_file: '' }, fakeLog().log)
  return signIn({
    client: { request: wire, close: async () => {} },
    timeoutMs: 1000,
    id,
    key: await keyPair(key),
    known: newcomer.known ?? { read: async () => undefined, write: async () => {} },
    algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' },
    minimumVersion: 3,
    token: 'a token',
    ...(join && { join }),
  })
}

/** On its way the load is changed. */
const altered =
  (change: (load: Record<string, unknown>) => Record<string, unknown>) => (frame: Uint8Array) => {
    const envelope = decode(frame) as { load: Record<string, unknown> }
    return master.answer(encodeNetwork({ ...envelope, load: change(envelope.load) }))
  }

const wait = (ms: number) => {
  master.now += ms
}
const stateOf = async (id: string) => master.context.keys.state(id)
const told = (tag: string) => master.events.filter((event) => event.tag === tag).map(({ data }) => data)

describe('a join token', () => {
  test('has one minion accepted without an administrator, and a second one pending with the reason', async () => {
    const token = await tokenFor()
    expect(await join(token)).toMatchObject({ state: 'accepted' })
    expect(await stateOf('web1')).toBe('accepted')
    expect(await join(token, { id: 'web2', key: 'wire2' })).toEqual({ state: 'pending', join: 'used' })
    expect(await stateOf('web2')).toBe('pending')
    expect(told(tags.auth).at(-1)).toMatchObject({ id: 'web2', act: 'pend', join: 'used' })
    expect(master.logged.slice(-2).join()).toContain('its join token was used before')
    expect(await join(token)).toMatchObject({ state: 'accepted' }) // the first one comes back
  })

  test('accepts a key that is pending already', async () => {
    expect(await join('')).toEqual({ state: 'pending' })
    expect(await join(await tokenFor())).toMatchObject({ state: 'accepted' })
    expect(await master.context.keys.list()).toMatchObject({ accepted: ['web1'], pending: [] })
  })

  test.each([
    ['after its time', 'expired', async () => wait(HOUR)],
    ['once revoked', 'unknown', async () => invites.revoke(invites.list()[0]!.id)],
    ['for another id', 'mismatch', async () => {}],
  ])('does not accept a minion %s', async (_when, reason, meanwhile) => {
    const token = await tokenFor(reason === 'mismatch' ? 'db*,mail' : 'db*,web?')
    await meanwhile()
    expect(await join(token)).toEqual({ state: 'pending', join: reason })
    expect(await stateOf('web1')).toBe('pending')
  })

  test('for three minions accepts three of those that come at once to several workers', async () => {
    const token = await tokenFor('*', 3)
    const { secret } = { secret: token.split('.')[0] as string }
    const others = [1, 2].map(() => new Invites(master.config.pki_dir, { clock: { now: () => master.now } }))
    const source = await joinOf({ join_token: token, join_token_file: '' }, fakeLog().log)
    const asked = Array.from({ length: 20 }, (_, n) => {
      const claim = { id: `web${n}`, pub: `key ${n}`, nonce: `${n}` }
      const { pub, nonce } = claim
      return others[n % 2]!.redeem({ pub, nonce, ...source!.prove(claim) }, claim.id)
    })
    const states = (await Promise.all(asked)).map(({ state }) => state)
    expect(states.filter((state) => state === 'good')).toHaveLength(3)
    expect(states.filter((state) => state === 'used')).toHaveLength(17)
    expect(secret).not.toBe('')
    await Promise.all(others.map((each) => each.close()))
  })

  test('is not used up if another option accepts the key, or by a minion that is accepted already', async () => {
    const token = await tokenFor()
    await master.file('web1', (await keyPair('wire1')).publicKey)
    expect(await join(token)).toMatchObject({ state: 'accepted' })
    expect(invites.list()).toHaveLength(1)
  })
})

describe('an eavesdropper on the network', () => {
  test('does not see the token, nor the secret of the proofs', async () => {
    const token = await tokenFor()
    let sent = ''
    await join(token, {
      wire: (frame) => {
        sent = Buffer.from(frame).toString('latin1')
        return master.answer(frame)
      },
    })
    const secret = token.split('.')[0] as string
    const hidden = [secret, verifierOf(secret)]
    for (const text of [...hidden, ...hidden.map((hex) => Buffer.from(hex, 'hex').toString('latin1'))]) {
      expect(sent.includes(text)).toBe(false)
    }
    expect(sent).toContain('join_proof')
  })

  test.each([
    ['key', async () => ({ pub: (await keyPair('wire2')).publicKey.pem })],
    ['id', async () => ({ id: 'web2' })],
    ['nonce', async () => ({ nonce: '0'.repeat(32) })],
  ])('cannot use the proof for another %s, and the token stays valid', async (_what, change) => {
    const token = await tokenFor()
    const changes = await change()
    await join(token, { wire: altered((load) => ({ ...load, ...changes })) }).catch(() => {})
    expect(await master.context.keys.list('accepted')).toEqual([])
    expect(told(tags.auth)).toMatchObject([{ join: 'unknown' }])
    expect(invites.list()).toMatchObject([{ left: 1 }])
  })

  test('learns nothing of an invitation without its token', async () => {
    await tokenFor('db*')
    master.now += HOUR
    const [secret, pin] = (await tokenFor()).split('.') as [string, string]
    const guessed = `${secret.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}.${pin}`
    expect(await join(guessed)).toEqual({ state: 'pending', join: 'unknown' })
  })

  test.each([7, '', 'x'.repeat(100), `${'0'.repeat(12)}.${'0'.repeat(64)}`, ['a'], { a: 1 }])(
    'gets the usual answer to the proof %j',
    async (join_proof) => {
      const wire = altered((load) => ({ ...load, join_proof }))
      expect(await join('', { wire })).toMatchObject({ state: 'pending' })
    },
  )
})

describe('a join token does not accept', () => {
  test('an id that has another key: the new key stays denied, and the token valid', async () => {
    const token = await tokenFor()
    await master.file('web1', (await keyPair('wire2')).publicKey)
    expect(await join(token)).toEqual({ state: 'rejected' })
    expect(await master.context.keys.list('denied')).toEqual(['web1'])
    expect(await join(token)).toEqual({ state: 'rejected' }) // the denied key is not taken either
    expect(invites.list()).toMatchObject([{ left: 1 }])
  })

  test('an id that is rejected, or another key than the pending one', async () => {
    const token = await tokenFor()
    await master.file('web1', (await keyPair('wire1')).publicKey, 'rejected')
    expect(await join(token)).toEqual({ state: 'rejected' })
    await master.file('web2', (await keyPair('wire2')).publicKey, 'pending')
    expect(await join(token, { id: 'web2' })).toEqual({ state: 'rejected' })
    expect(invites.list()).toMatchObject([{ left: 1 }])
  })
})

describe('the master that a join token names', () => {
  test('is the only one a new minion trusts', async () => {
    const stored: PublicKey[] = []
    const known = { read: async () => stored[0], write: async (key: PublicKey) => void stored.push(key) }
    const token = await tokenFor('*', 2, 'wire2')
    await expect(join(token, { known })).rejects.toMatchObject({
      code: 'FINGERPRINT_WRONG',
      message: expect.stringContaining('This is not the master that made the join token'),
    })
    expect(stored).toEqual([])
    stored.push((await keyPair('master')).publicKey) // one it has known for long stays trusted
    expect(await join(token, { known })).toMatchObject({ state: 'accepted' })
  })
})

test('a join token that was cut off, or is of another master, is logged with the reason, and nothing of it is masked', async () => {
  const named = await joinOf({ join_token: await tokenFor(), join_token_file: '' }, fakeLog().log)
  expect(sanitize(named?.refusal((await keyPair('wire1')).publicKey))).toContain(
    'Its key has the fingerprint',
  )
  const { log, lines } = fakeLog()
  expect(await joinOf({ join_token: 'abcdef', join_token_file: '' }, log)).toBeUndefined()
  expect(lines.map(({ message }) => sanitize(message))).toEqual([
    'The join token cannot be used, so the minion signs in without it. The join token is not one that "salt-key --invite" prints: it has been cut off or changed.',
  ])
})

test('every change that the master makes itself is an event and a line in the audit log', async () => {
  const token = await tokenFor('web1')
  await join(token)
  await join('', { id: 'web2', key: 'wire2' })
  await join('', { id: 'web2', key: 'wire2' }) // nothing changes
  await join('', { id: 'web1', key: 'wire2' })
  const lines = (await readFile(master.config.key_audit_log, 'utf8')).trim().split('\n')
  const [invite] = [...(lines[0]?.match(/"invite":"[0-9a-f]{12}"/) ?? [])]
  expect(invite).toBeDefined()
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { act: 'accept', id: 'web1', to: 'accepted', by: 'invite' },
    { act: 'pend', id: 'web2', to: 'pending', by: 'sign-in' },
    { act: 'denied', id: 'web1', to: 'denied', by: 'sign-in' },
  ])
  expect(told(tags.key)).toEqual([
    { result: true, act: 'accept', id: 'web1' },
    { result: true, act: 'pend', id: 'web2' },
    { result: true, act: 'denied', id: 'web1' },
  ])
})

test('unauthenticated sign-ins cannot fill the audit log: 100 lines a minute are written for keys that are not accepted', async () => {
  const { pem } = (await keyPair('wire2')).publicKey
  await master.file('web1', (await keyPair('wire1')).publicKey)
  for (let n = 0; n < 110; n++) {
    const wire = altered((load) => ({ ...load, pub: `${pem}${'\n'.repeat(n)}` }))
    await join('', { wire }).catch(() => {})
  }
  const lines = async () => (await readFile(master.config.key_audit_log, 'utf8')).trim().split('\n')
  expect(await lines()).toHaveLength(100)
  master.now += 60_000
  await join('', { wire: altered((load) => ({ ...load, pub: `${pem} ` })) }).catch(() => {})
  expect(JSON.parse((await lines()).at(-1)!)).toMatchObject({ act: 'denied', left_out_before: 10 })
})

test('a minion joins with the token in its environment, and a second one logs why it waits', async () => {
  const cluster = await InProcessCluster.open({
    minions: [],
    transport: 'memory',
    master: { auto_accept: false },
    minion: { acceptance_wait_time: 1 },
  })
  const own = new Invites(cluster.master.config.pki_dir, { clock: { now: () => cluster.master.now } })
  const { publicKey } = await keyPair('master')
  const { token } = await own.make({ match: '*', uses: 1, ttlMs: HOUR, user: 'root' }, publicKey)
  vi.stubEnv('SALT_JOIN_TOKEN', token)
  try {
    await cluster.startMinion('web1')
    expect(await cluster.run('web1', 'test.ping')).toEqual({ web1: true })
    const late = cluster.startMinion('web2').catch(() => {})
    const log = () =>
      cluster.logged('web2').find((line) => line.includes('The master did not accept the join token'))
    expect(await until('the reason in the log', log)).toContain('it was used before')
    await cluster.master.context.keys.accept('web2')
    await late
  } finally {
    await own.close()
    await cluster.close()
  }
})
