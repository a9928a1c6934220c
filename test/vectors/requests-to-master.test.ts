/**
 * Every recorded request that was sent to a real master one by one, sent to ours. The answer is the recorded one, or
 * the one in the table of deviations with its reason: nothing is skipped. Real masters ran with few restrictions, so
 * ours runs with `minimum_auth_version: 0` here; what it does by default is at the end.
 */

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJid } from '../../core/base/jid.ts'
import { isRecord } from '../../core/base/record.ts'
import { decode } from '../../core/codec/index.ts'
import { type SigningAlgorithm, SymmetricKey } from '../../core/crypto/index.ts'
import { asBytes } from '../../core/wire/bytes.ts'
import { InProcessMaster, type MasterSetup } from '../harness/in-process-master.ts'
import { openReply } from '../harness/peer.ts'
import { bytes, vectors } from '../harness/vectors.ts'
import { deviations, type Forms } from './deviations.ts'
import { pairOf, publicKeyOf, type SignIn } from './recorded.ts'

type Note = Record<string, unknown>

interface Exchange {
  name: string
  request_b64: string | string[]
  reply_b64?: string | null
  reply?: unknown
  request?: Note
  request_plain?: unknown
  envelope?: Note
  request_key?: string
  request_same_as?: string
}

interface RequestSet {
  set: string
  master_options: Note
  aes_key_string: string
  session_key_strings: Record<string, string>
  items: Exchange[]
}

const channel = vectors<{ aes_key_string: string; items: Exchange[] }>('request-channel')
const auth = vectors<{ aes_key_string: string; items: SignIn[] }>('auth')
const generation3 = vectors<{
  sign_in: { items: (SignIn & { master_options: Note })[] }
  request_sets: RequestSet[]
}>('generation-3')

/** Salt looks at the first frame only. */
const frameOf = (item: { request_b64: string | string[] }) => bytes([item.request_b64].flat()[0] ?? '')

/** Those of the recorded master that were asked for. */
const files = fileURLToPath(new URL('../fixtures/srv', import.meta.url))
const OLD_MASTER = {
  minimum_auth_version: 0,
  nodegroups: { web: 'L@wire1,wire2' },
  file_roots: { base: [files] },
  file_recv: true,
  external_auth: { auto: { saltdev: ['.*', '@runner', '@wheel'] } },
  peer: { '.*': ['test.*'] },
  peer_run: { '.*': ['test.*'] },
}

/** A master in the state of the recorded one: two minions accepted, one waiting, one rejected. */
async function openMaster({ options, ...setup }: MasterSetup = {}): Promise<InProcessMaster> {
  const master = await InProcessMaster.open({ ...setup, options: { ...OLD_MASTER, ...options } })
  for (const id of ['wire1', 'wire2']) await master.file(id, publicKeyOf(id))
  await master.file('badguy', publicKeyOf('wire2'), 'rejected')
  return master
}

async function withSessions(
  master: InProcessMaster,
  texts: Record<string, string>,
): Promise<InProcessMaster> {
  for (const [id, text] of Object.entries(texts)) await master.installSession(id, publicKeyOf(id), text)
  return master
}

/** What is needed to read a reply. */
interface Reading {
  readonly key?: string | undefined
  readonly nonce?: unknown
  readonly algorithm?: SigningAlgorithm | undefined
  readonly minion?: string | undefined
}

/** A reply in a form that says everything about it but what is drawn at random. */
function read(
  frame: Uint8Array,
  { key, nonce, algorithm = 'PKCS1v15-SHA1', minion = 'wire1' }: Reading,
): unknown {
  const outer = decode(frame)
  if (outer instanceof Uint8Array) return { sealed: openReply(frame, SymmetricKey.parse(key ?? ''), nonce) }
  const load = isRecord(outer) ? asBytes(outer.load) : undefined
  if (isRecord(outer) && load && outer.sig) {
    const isValid = publicKeyOf('master').verify(load, asBytes(outer.sig)!, algorithm)
    return isValid ? { signed: readAccepted(decode(load) as Note, minion) } : 'a wrong signature'
  }
  if (isRecord(outer) && outer.key && outer.pillar) return { pillar: readPillar(outer, minion, nonce) }
  return withoutChoices(outer)
}

/** The entries in their order; what is hidden for the minion is opened. */
function readAccepted(inner: Note, minion: string): unknown {
  return Object.entries(inner).map(([name, value]) => {
    if (!['aes', 'session', 'token'].includes(name)) return [name, name === 'publish_port' ? '(port)' : value]
    const sealed = asBytes(value)!
    const open = (algorithm: 'OAEP-SHA1' | 'OAEP-SHA224') =>
      pairOf(minion).decrypt(sealed, algorithm)?.toString()
    const texts = { sha1: open('OAEP-SHA1'), sha224: open('OAEP-SHA224') }
    return [name, texts]
  })
}

function readPillar(outer: Note, minion: string, nonce: unknown): unknown {
  const wrapped = asBytes(outer.key)!
  const once = pairOf(minion).decrypt(wrapped, 'OAEP-SHA1')?.toString() ?? ''
  const content = decode(SymmetricKey.parse(once).decrypt(asBytes(outer.pillar)!)!) as Note
  if (!('sig' in content)) return { unsigned: content }
  const data = asBytes(content.data)!
  const inner = decode(data) as Note
  return {
    isSigned: publicKeyOf('master').verify(data, asBytes(content.sig)!, 'PKCS1v15-SHA1'),
    isBound: asBytes(inner.key)!.equals(wrapped) && (inner.nonce ?? undefined) === nonce,
    pillar: inner.pillar,
  }
}

/** Job ids and tokens that the master chose are different each time. */
function withoutChoices(reply: unknown): unknown {
  if (isRecord(reply) && typeof reply.token === 'string')
    return { ...reply, token: '(token)', start: '(time)', expire: '(time)' }
  if (isRecord(reply) && isRecord(reply.data) && reply.tag === `salt/wheel/${reply.data.jid}`) {
    const { jid, tag, _stamp, ...data } = reply.data
    return { tag: 'salt/wheel/(jid)', data }
  }
  if (isRecord(reply) && isJid(reply.jid) && reply.tag === `salt/run/${reply.jid}`)
    return { ...reply, jid: '(jid)', tag: 'salt/run/(jid)' }
  const load = isRecord(reply) ? reply.load : undefined
  if (!isRecord(load) || !isJid(load.jid) || load.jid.startsWith('2020')) return reply
  return { ...(reply as Note), load: { ...load, jid: '(jid)' } }
}

/** The recorded form, or what the table says instead. */
function expected(file: keyof Forms, name: string, recorded: unknown): unknown {
  const deviation = deviations[file][name]
  if (!deviation) return recorded
  const { answer } = deviation
  const form = typeof answer === 'function' ? answer(recorded) : answer
  expect(form, 'a deviation that is none any more').not.toEqual(recorded)
  return form
}

async function check(
  file: keyof Forms,
  name: string,
  master: InProcessMaster,
  item: Exchange | SignIn,
  reading: Reading,
) {
  const answer = Buffer.from(await master.answer(frameOf(item)))
  const known = item.reply_b64 ? bytes(item.reply_b64) : undefined
  const recorded = known ? read(known, reading) : 'no answer'
  expect(read(answer, reading)).toEqual(expected(file, name, recorded))
  const form = JSON.stringify(recorded)
  expect(form, 'the recorded reply is understood').not.toContain('does not open')
  const isDrawn = /"sealed":|"pillar":|"sha1":|"sha224":|\(jid\)/.test(form)
  if (known && !deviations[file][name] && !isDrawn) expect(answer.toString('base64')).toBe(item.reply_b64)
}

/** Key and nonce of the replies to an encrypted request. */
function readingOf(item: Exchange, keys: Record<string, string>, version: number): Reading {
  const plain = isRecord(item.request_plain) ? item.request_plain : {}
  const minion = item.request_key?.split(':')[1] ?? (typeof plain.id === 'string' ? plain.id : 'wire1')
  return {
    key: keys[item.request_key ?? 'aes'],
    nonce: version >= 2 ? plain.nonce : undefined,
    minion: ['wire1', 'wire2'].includes(minion) ? minion : 'wire1',
  }
}

const versionOf = (item: Exchange): number =>
  Number((decode(frameOf(item)) as { version?: unknown }).version ?? item.envelope?.version ?? 0)

/** The version of a request that says one, and is not broken in another way that is found before. */
function saidVersion(item: Exchange | SignIn): number | undefined {
  try {
    const outer = decode(frameOf(item as Exchange))
    if (!isRecord(outer) || !('enc' in outer) || !('load' in outer)) return undefined
    const version = outer.version === undefined ? 0 : outer.version
    const isUsable = outer.enc === 'aes' ? asBytes(outer.load) : isRecord(outer.load)
    const id = isRecord(outer.load) ? (outer.load.id ?? ('id' in outer.load ? 5 : '')) : ''
    const isNamed = typeof id === 'string' && !id.includes('\0')
    return isUsable && isNamed && typeof version === 'number' ? version : undefined
  } catch {
    return undefined
  }
}

describe('requests to a generation 2 master, sent to ours', () => {
  const key = channel.aes_key_string
  let master: InProcessMaster
  beforeAll(async () => {
    master = await openMaster({
      aes: key,
      rootKey: 'RqW3gpzNqecX2lyX85mQoal+qHaEREAKsW9HKLfGjCO1G259MHvkA3Mn1A2D9RbhlWb3syi8qiQ=',
    })
  })
  afterAll(() => master?.close())

  test.each(channel.items)('$name', async (item) => {
    const reading = readingOf(item, { aes: key }, item.request ? Number(item.request.version ?? 0) : 0)
    await check('channel', item.name, master, item, reading)
  })

  test('the requests had their effects, and no others', async () => {
    const returned = master.events.filter(({ tag }) => tag.includes('/ret/'))
    expect(returned.map(({ tag }) => tag)).toEqual(['salt/job/20200102030405060708/ret/wire1'])
    const own = master.events.filter(({ tag }) => ['my/tag', 'e1', 'e2', 'pre/e1', 'pre/e2'].includes(tag))
    expect(own.map(({ tag }) => tag)).toEqual(['my/tag', 'e1', 'pre/e1', 'e2', 'pre/e2'])
    expect(master.published.map(({ job }) => job.fun)).toEqual(
      Array.from({ length: 5 }, () => 'test.ping'), // by key, by credentials, and for a minion
    )
    expect(await master.context.keys.list()).toMatchObject({
      accepted: ['wire1', 'wire2'],
      pending: [],
      denied: [],
    })
  })
})

describe('sign-ins at a generation 2 master, sent to ours', () => {
  const items = auth.items.map((item) => ({ ...item, name: item.name ?? '' }))
  const setups = [
    { of: (name: string) => name.startsWith('auth-full'), options: { max_minions: 1 } },
    { of: (name: string) => name.startsWith('auth-signed'), options: { master_sign_pubkey: true } },
    { of: () => true, options: {} },
  ]
  const masters = new Map<object, Promise<InProcessMaster>>()
  async function masterFor(item: SignIn & { name: string }): Promise<InProcessMaster> {
    const setup = setups.find(({ of }) => of(item.name))!
    const known = masters.get(setup)
    if (known) return known
    const keys = items.filter(({ name }) => setups.find(({ of }) => of(name)) === setup)
    const aes = keys.find(({ decrypted }) => decrypted)?.decrypted?.aes_key_string ?? ''
    const opened = openMaster({ aes, options: setup.options }).then(async (master) => {
      await master.setConnected(['wire1'])
      return master
    })
    masters.set(setup, opened)
    return opened
  }
  afterAll(async () => {
    for (const master of masters.values()) await (await master).close()
  })

  test.each(items)('$name', async (item) => {
    const master = await masterFor(item)
    if (item.name === 'auth-garbage-pub-accepted') await master.file('garbage', 'not a key')
    await check('auth', item.name, master, item, {})
  })

  test('filed are keys that can be read, of ids that are valid', async () => {
    const master = await masters.get(setups[2]!)!
    expect(await master.context.keys.list()).toEqual({
      accepted: ['garbage', 'wire1', 'wire2'],
      pending: ['.hid', 'a b', 'newbie', 'żółw'],
      rejected: ['badguy'],
      denied: ['newbie', 'wire1'],
    })
    expect(await master.sessions.wasUsed('wire1')).toBe(false)
  })
})

describe('sign-ins at a generation 3 master, sent to ours', () => {
  const items = generation3.sign_in.items.map((item) => ({ ...item, name: item.name ?? '' }))
  const first = (signing: boolean) =>
    items.find((item) => item.decrypted && Boolean(item.master_options.master_sign_pubkey) === signing)
      ?.decrypted
  const open = async (signing: boolean) => {
    const { aes_key_string: aes = '', session_key_string: session = '' } = first(signing) ?? {}
    const master = await openMaster({ aes, options: { master_sign_pubkey: signing } })
    await master.file(
      'newbie',
      String(items.find(({ name }) => name === 'auth-v3-pending-again')?.request.load.pub),
      'pending',
    )
    return withSessions(master, { wire1: session })
  }
  let plain: InProcessMaster
  let signing: InProcessMaster
  beforeAll(async () => {
    plain = await open(false)
    signing = await open(true)
  })
  afterAll(async () => {
    await plain?.close()
    await signing?.close()
  })

  test.each(items)('$name', async (item) => {
    const master = item.master_options.master_sign_pubkey ? signing : plain
    await check('signIn', item.name, master, item, { algorithm: item.signature_algorithm })
  })

  test('an unusable algorithm is refused before anything is filed', async () => {
    expect(await plain.context.keys.list()).toEqual({
      accepted: ['wire1', 'wire2'],
      pending: ['newbie'],
      rejected: ['badguy'],
      denied: ['newbie'],
    })
  })
})

describe.each(generation3.request_sets)('requests to a generation 3 master, sent to ours: $set', (set) => {
  const keys = {
    aes: set.aes_key_string,
    ...Object.fromEntries(
      Object.entries(set.session_key_strings).map(([id, text]) => [`session:${id}`, text]),
    ),
  }
  const open = async () => {
    const master = await openMaster({ aes: set.aes_key_string, options: set.master_options })
    await master.file('newbie', publicKeyOf('wire2'), 'pending')
    if (set.set === 'extra') await master.file('wire3', publicKeyOf('wire2'))
    master.now = 1_795_170_213_000
    return withSessions(master, set.session_key_strings)
  }
  /** Once a minion has spoken generation 3 it is not heard in generation 2, so those requests get a master of their own. */
  let newer: InProcessMaster
  let older: InProcessMaster
  beforeAll(async () => {
    newer = await open()
    older = set.set === 'extra' ? newer : await open()
  })
  afterAll(async () => {
    await newer?.close()
    if (older !== newer) await older?.close()
  })

  test.each(set.items)('$name', async (item) => {
    const original = set.items.find(({ name }) => name === item.request_same_as) ?? item
    const version = versionOf(original)
    await check('sets', item.name, version >= 3 ? newer : older, item, readingOf(original, keys, version))
  })

  test('every return is one row of the minion that sent it, and no key is deleted that was not revoked', async () => {
    for (const master of new Set([newer, older])) {
      const rows = [...master.context.jobs.returns('20240101000000000001').keys()]
      expect(rows).toEqual(master === newer && set.set === 'basic' ? ['wire1'] : [])
      const accepted = set.set === 'extra' ? ['wire1', 'wire3'] : ['wire1', 'wire2']
      expect(await master.context.keys.list('accepted')).toEqual(accepted)
    }
  })
})

test('every deviation is of a recorded request', () => {
  const names = (items: readonly { name?: string }[] = []) => items.map(({ name = '' }) => name)
  const known: Record<keyof Forms, string[]> = {
    channel: names(channel.items),
    auth: names(auth.items),
    signIn: names(generation3.sign_in.items),
    sets: names(generation3.request_sets.flatMap(({ items }) => items)),
  }
  for (const file of Object.keys(known) as (keyof Forms)[]) {
    expect(known[file]).toEqual(expect.arrayContaining(Object.keys(deviations[file])))
  }
})

describe('by its minimum_auth_version', () => {
  const all: (Exchange | SignIn)[] = [
    ...channel.items,
    ...auth.items,
    ...generation3.sign_in.items,
    ...generation3.request_sets.flatMap(({ items }) => items),
  ]

  test.each([undefined, 3, 2, 1])(
    '%s a master refuses every recorded request that is older',
    async (minimum) => {
      const options = minimum === undefined ? {} : { minimum_auth_version: minimum }
      const master = await InProcessMaster.open({ options, aes: channel.aes_key_string })
      await master.file('wire1', publicKeyOf('wire1'))
      try {
        const older = all.filter((item) => (saidVersion(item) ?? 99) < (minimum ?? 3))
        expect(older.length).toBeGreaterThan(15)
        for (const item of older)
          expect(decode(await master.answer(frameOf(item as Exchange)))).toBe('bad load')
        expect([master.events, master.published]).toEqual([[], []])
      } finally {
        await master.close()
      }
    },
  )
})
