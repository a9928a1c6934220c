/** The answers of a master to targets that match no minion, are malformed, or depend on data that it does not have. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { unreturned } from '../../core/client/services/unreturned.ts'
import { decode } from '../../core/codec/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster
beforeEach(async () => {
  master = await InProcessMaster.open()
  const pem = (await Peer.named('wire1')).key.publicKey
  for (const id of ['web01', 'web02']) await master.file(id, pem)
  await master.file('web09', pem, 'pending')
  await master.file('web08', pem, 'rejected')
})
afterEach(() => master.close())

interface Reply {
  readonly load: Readonly<Record<string, unknown>>
}

async function publish(tgt: unknown, tgt_type = 'glob', more: Record<string, unknown> = {}): Promise<Reply> {
  const job = { cmd: 'publish', tgt, tgt_type, fun: 'test.ping', arg: [], ret: '', jid: '', user: 'root' }
  const key = await master.rootKey()
  return decode(await master.answer(packClear({ ...job, key, ...more }))) as unknown as Reply
}

async function learnFacts(): Promise<void> {
  const { minions } = master.context
  const pillar = { role: 'front', password: 'hunter2' }
  await minions.save('web01', { grains: { os: 'Debian', roles: ['web', 'lb'], ipv4: ['10.0.0.1'] }, pillar })
  await minions.save('web02', {
    grains: { os: 'Ubuntu', saltversion: '0.1.0', meta: { rack: { row: 'B' } } },
    pillar,
  })
}

describe('a target that matches no minion', () => {
  test.each([
    ['web1', 'glob', "There is no minion 'web1'. Did you mean 'web01'?"],
    ['db*', 'glob', "No minion has an id that matches 'db*'."],
    ['G@os:x', 'glob', 'Is it a compound target? Then it needs -C.'],
    ['db.*', 'pcre', "whose beginning matches 'db.*'"],
    [['web1', 'zzz'], 'list', "There is no minion 'web1'. Did you mean 'web01'?\nThere is no minion 'zzz'."],
    ['web09', 'glob', 'The key of web09 is pending: accept it with salt-key -a web09'],
    ['web08', 'glob', 'The key of web08 is rejected: accept it with salt-key -a web08 --include-rejected'],
    ['roels:web', 'grain', "No minion has the grain 'roels'. Did you mean 'roles'?"],
    ['os:RedHat', 'grain', 'They have: Debian, Ubuntu.'],
    ['os:Red.*', 'grain_pcre', 'They have: Debian, Ubuntu.'],
    [
      'saltversion:3006*',
      'grain',
      'the grain saltcompat is the Salt release that a minion is compatible with.',
    ],
    ['G@saltversion:3006*', 'compound', 'They have: 0.1.0. Versions of salt-ts differ from those of Salt'],
    ['meta:rak:row:B', 'grain', "No minion has 'rak' below the grain 'meta'. Did you mean 'rack'?"],
    ['os', 'grain', "'os' has no value. Write key:value, as in os:Debian."],
    ['rol:front', 'pillar', "No minion has the pillar key 'rol'. Did you mean 'role'?"],
    [
      'password:x',
      'pillar',
      "Minions have the pillar key 'password', but none with a value that matches 'x'.",
    ],
    ['10.9.0.0/16', 'ipcidr', 'No minion has an address in 10.9.0.0/16.'],
    ['10.9.0.1', 'ipcidr', 'No minion has the address 10.9.0.1.'],
    [
      'web* and G@roels:web',
      'compound',
      "G@roels:web: No minion has the grain 'roels'. Did you mean 'roles'?",
    ],
    [
      'Q@os:Debian',
      'compound',
      "Q@os:Debian: Unknown target type 'Q@', so this was taken for a minion id. Known: G@,",
    ],
    ['user@host', 'compound', "There is no minion 'user@host'."],
    ['web02 and G@os:Debian', 'compound', 'no minion matches the whole target'],
    ['web09 or web08', 'compound', 'web09: The key of web09 is pending'],
  ])('is answered with the reason: %s as %s', async (tgt, type, why) => {
    await learnFacts()
    const { load } = await publish(tgt, type)
    expect(load).toMatchObject({
      jid: null,
      minions: [],
      error: expect.stringContaining('Master could not resolve'),
    })
    expect(load.reason).toContain(why)
    expect(load.reason).not.toContain('hunter2')
    expect(master.published).toEqual([])
  })

  test('is answered with the number of keys that wait, if no key is accepted', async () => {
    await master.context.keys.remove('web0[12]')
    expect((await publish('os:x', 'grain')).load.reason).toBe(
      "This master has accepted no minion's key yet; 1 is pending (salt-key -L).",
    )
  })

  test('is refused with the place of the error if it is malformed, and logged once', async () => {
    const { load } = await publish('web* and or web01', 'compound')
    expect(load).toMatchObject({ jid: null, minions: [], invalid: expect.stringContaining('\n           ^') })
    expect(master.logged.filter((line) => line.includes('malformed'))).toHaveLength(1)
    expect(master.published).toEqual([])
  })

  test.each([
    ['a:'.repeat(100_000), 'grain', 'The target has 200000 characters, but may have 65536'],
    [Array.from({ length: 1_001 }, (_, n) => `G@os:x${n}`).join(' or '), 'compound', 'has 1001 terms'],
  ])('is refused with a sentence if it is too large, before authentication', async (tgt, type, sentence) => {
    for (const cmd of tgt.length < 65_536 ? ['publish', '_plan'] : ['publish']) {
      const { error } = (await publish(tgt, type, { cmd, key: 'none' })) as unknown as { error: object }
      expect(error).toMatchObject({ name: 'TargetInvalid', message: expect.stringContaining(sentence) })
    }
    expect(master.events).toEqual([])
  })

  test('is refused with a sentence if V8 cannot compile it', async () => {
    const { load } = await publish('*a'.repeat(5_000))
    expect(load.invalid).toMatch(/^The pattern '.{60}\.\.\.' is too large/)
    expect(master.logged.filter((line) => line.length > 300)).toEqual([])
  })
})

test('minions that lack cached data are named as unknown in the reply, the event and the lookup of the job', async () => {
  await master.context.minions.save('web01', { grains: { os: 'Debian' } })
  const { load } = await publish('G@os:Debian', 'compound')
  expect(load).toMatchObject({ minions: ['web01', 'web02'], unknown: ['web02'] })
  const news = master.events.find(({ tag }) => tag.endsWith('/new'))
  expect(news?.data).toMatchObject({ minions: ['web01', 'web02'], unknown: ['web02'] })
  const { config, context } = master
  const { jobs } = context
  const jid = String(load.jid)
  expect(jobs.load(jid)).toMatchObject({ minions: ['web01', 'web02'], unknown: ['web02'] })
  const client = () => Promise.reject(new Error('nobody has a key, so nobody is asked'))
  const found = await unreturned(jid, { config, jobs, accepted: [], client })
  expect(found.map(({ reason }) => reason)).toEqual([
    expect.stringContaining('The master has no accepted key for this id.'),
    expect.stringContaining('It is not known whether the target matches this minion'),
  ])
  expect((await publish('web*')).load).not.toHaveProperty('unknown')
})

test('a plan names unknown minions, too, and says why a target matches no minion', async () => {
  await master.context.minions.save('web01', { grains: { os: 'Debian' } })
  const { plan } = (await publish('os:Debian', 'grain', { cmd: '_plan' })).load
  expect(plan).toMatchObject({ minions: ['web01', 'web02'], unknown: ['web02'] })
  expect((await publish('web1', 'glob', { cmd: '_plan' })).load.plan).toMatchObject({
    nobody: expect.stringContaining("Did you mean 'web01'?"),
  })
})
