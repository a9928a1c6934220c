import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseMinionId } from '../../../core/base/minion-id.ts'
import { KeyStore } from '../../../core/keys/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'
import { vectors } from '../../harness/vectors.ts'
import { randomPem } from './pems.ts'
import { policy } from './policies.ts'

const child = await testProgram('offers-child.ts', import.meta.url)
const autoSign = policy({ autoSign: async () => 'auto_accept' })

let pkiDir: string
let keys: KeyStore

beforeEach(async () => {
  pkiDir = await temporaryFolder('salt-pki-')
  keys = new KeyStore(pkiDir)
})
afterEach(() => removeFolder(pkiDir))

const verdictOf = async (id: string, pem: string, given = policy()) =>
  (await keys.offer(id, pem, given)).verdict

describe('an offered key', () => {
  test('is filed as pending, accepted by the administrator, and then known', async () => {
    const pem = randomPem()
    expect(await keys.offer('web1', pem, policy())).toMatchObject({ verdict: 'pending', filed: 'pending' })
    expect(await keys.accept('web*')).toMatchObject([{ id: 'web1', from: 'pending', to: 'accepted' }])
    const outcome = await keys.offer('web1', pem, policy())
    expect(outcome).toMatchObject({ verdict: 'accepted' })
    expect(outcome.filed).toBeUndefined()
    expect(keys.accepted('web1')?.pem).toBe(pem)
    expect(await keys.list()).toEqual({ accepted: ['web1'], pending: [], rejected: [], denied: [] })
  })

  test('is stored exactly as received, for its owner only to read', async () => {
    const pem = `${randomPem()}\n`
    await keys.offer('web1', pem, policy())
    const path = join(pkiDir, 'minions_pre/web1')
    expect(await readFile(path, 'utf8')).toBe(pem)
    expect(statSync(path).mode & 0o077).toBe(0)
    expect(statSync(join(pkiDir, 'minions_pre')).mode & 0o077).toBe(0)
  })

  test('is the same key with other line ends and white space around it', async () => {
    const pem = randomPem()
    await keys.offer('web1', pem, autoSign)
    expect(await verdictOf('web1', `\n${pem.replaceAll('\n', '\r\n')}\n\n`)).toBe('accepted')
  })

  test('that differs from the accepted one is filed as denied and changes nothing', async () => {
    const [pem, other] = [randomPem(), randomPem()]
    await keys.offer('web1', pem, autoSign)
    expect(await keys.offer('web1', other, autoSign)).toMatchObject({ verdict: 'denied', filed: 'denied' })
    expect(keys.accepted('web1')?.pem).toBe(pem)
    expect(await keys.list('denied')).toEqual(['web1'])
  })

  test('can be accepted automatically while it is pending', async () => {
    const pem = randomPem()
    await keys.offer('web1', pem, policy())
    expect(await verdictOf('web1', pem, autoSign)).toBe('accepted')
    expect(await keys.list()).toMatchObject({ accepted: ['web1'], pending: [] })
  })

  test('can be rejected automatically, new or pending', async () => {
    const rejecting = policy({ autoReject: async () => true })
    await keys.offer('web2', randomPem(), policy())
    for (const id of ['web1', 'web2']) expect(await verdictOf(id, randomPem(), rejecting)).toBe('rejected')
    expect(await keys.list()).toMatchObject({ rejected: ['web1', 'web2'], pending: [] })
    expect(await verdictOf('web1', randomPem())).toBe('rejected')
  })

  test('replaces the accepted one in open mode', async () => {
    const pem = randomPem()
    await keys.offer('web1', randomPem(), autoSign)
    await keys.reject('web1', { includeAccepted: true })
    expect(await verdictOf('web1', pem, policy({ openMode: true }))).toBe('accepted')
    expect(keys.accepted('web1')?.pem).toBe(pem)
  })

  test('is filed once in open mode, and as a denied one, however often it is offered', async () => {
    const [pem, other] = [randomPem(), randomPem()]
    const open = policy({ openMode: true })
    expect(await keys.offer('web1', pem, open)).toMatchObject({ verdict: 'accepted', filed: 'accepted' })
    expect(await keys.offer('web1', pem, open)).not.toHaveProperty('filed')
    expect(await keys.offer('web1', other, policy())).toMatchObject({ verdict: 'denied', filed: 'denied' })
    expect(await keys.offer('web1', other, policy())).not.toHaveProperty('filed')
  })

  test.each(['', 'not a key', 'A'.repeat(500_000)])(
    'that cannot be read is refused and leaves nothing',
    async (pem) => {
      expect(await verdictOf('web1', pem, autoSign)).toBe('invalid')
      expect(await readdir(pkiDir)).toEqual([])
    },
  )

  test.each(['../x', 'a/b', 'a\0b', '..', '.', '', 'x'.repeat(300), 'x\n../y', '*', 'alice\n', 'a\u202eb'])(
    'for the id %j is refused and leaves nothing',
    async (id) => {
      expect(await verdictOf(id, randomPem(), autoSign)).toBe('invalid')
      expect(await readdir(pkiDir)).toEqual([])
      expect(keys.accepted(id)).toBeUndefined()
    },
  )

  test('is refused when too many are pending', async () => {
    const few = policy({ maxPending: 2 })
    const verdicts = []
    for (const id of ['a', 'b', 'c']) verdicts.push(await verdictOf(id, randomPem(), few))
    expect(verdicts).toEqual(['pending', 'pending', 'full'])
    expect(await keys.list('pending')).toEqual(['a', 'b'])
  })
})

test('keys that autoreject_file names do not fill the disk', async () => {
  const few = policy({ maxPending: 2, autoReject: async () => true })
  for (const id of ['a', 'b', 'c']) expect(await verdictOf(id, randomPem(), few)).toBe('rejected')
  expect(await keys.list('rejected')).toEqual(['a', 'b'])
})

describe('a hundred keys for one id at once', () => {
  test('in one process: one is pending, all others are denied', SLOW, async () => {
    const offers = Array.from({ length: 100 }, () => verdictOf('web1', randomPem()))
    expect(tally(await Promise.all(offers))).toEqual({ pending: 1, denied: 99 })
    expect(await keys.list()).toMatchObject({ pending: ['web1'], denied: ['web1'], accepted: [] })
  })

  test('in four processes: one is pending, all others are denied', SLOW, async () => {
    const runs = [1, 2, 3, 4].map(() => execa(process.execPath, [child, pkiDir, 'web1', '25']))
    const verdicts = (await Promise.all(runs)).flatMap(({ stdout }) => stdout.split(' '))
    expect(tally(verdicts)).toEqual({ pending: 1, denied: 99 })
    expect((await readdir(join(pkiDir, 'minions_pre'))).length).toBe(1)
  })

  test('automatically accepted: one is accepted, all others are denied', SLOW, async () => {
    const offers = Array.from({ length: 100 }, () => verdictOf('web1', randomPem(), autoSign))
    expect(tally(await Promise.all(offers))).toEqual({ accepted: 1, denied: 99 })
  })

  test('the same key offered a hundred times stays pending', async () => {
    const pem = randomPem()
    const offers = Array.from({ length: 100 }, () => verdictOf('web1', pem))
    expect(tally(await Promise.all(offers))).toEqual({ pending: 100 })
  })
})

describe('the administrator', () => {
  beforeEach(async () => {
    for (const id of ['web1', 'web2', 'db1']) await keys.offer(id, randomPem(), policy())
  })

  test('accepts by pattern or by exact ids', async () => {
    expect(await keys.accept(['web2', 'nobody'])).toMatchObject([
      { id: 'web2', from: 'pending', to: 'accepted' },
    ])
    await keys.accept('*1')
    expect(await keys.list()).toMatchObject({ accepted: ['db1', 'web1', 'web2'], pending: [] })
  })

  test('rejects, and accepts rejected ones only if asked', async () => {
    await keys.reject('web*')
    expect(await keys.accept('web*')).toMatchObject([])
    expect(await keys.accept('web1', { includeRejected: true })).toMatchObject([
      { id: 'web1', from: 'rejected', to: 'accepted' },
    ])
    expect(await keys.state('web2')).toBe('rejected')
  })

  test('replaces an accepted key by the denied one', async () => {
    await keys.accept('web1')
    const pem = randomPem()
    await keys.offer('web1', pem, policy())
    await keys.accept('web1', { includeDenied: true })
    expect(keys.accepted('web1')?.pem).toBe(pem)
    expect(await keys.list('denied')).toEqual([])
  })

  test('deletes, and the key is unknown at once', async () => {
    await keys.accept('web1')
    expect(keys.accepted('web1')).toBeDefined()
    expect(await keys.remove('web1')).toMatchObject([{ id: 'web1', from: 'accepted' }])
    expect(keys.accepted('web1')).toBeUndefined()
    expect(await keys.state('web1')).toBeUndefined()
  })

  test('is refused a key that cannot be read, with a sentence', async () => {
    writeFileSync(join(pkiDir, 'minions_pre/web1'), 'damaged')
    const [change] = await keys.accept('web1')
    expect(change?.refused).toMatch(/web1 cannot be read/)
    expect(await keys.state('web1')).toBe('pending')
  })

  test('that acts as another process is noticed at once', async () => {
    await keys.accept('web1')
    keys.accepted('web1')
    await new KeyStore(pkiDir).reject('web1', { includeAccepted: true })
    expect(keys.accepted('web1')).toBeUndefined()
  })

  test('does not list files that are no keys', async () => {
    writeFileSync(join(pkiDir, 'minions_pre/.tmp-0123'), 'left by a crash')
    writeFileSync(join(pkiDir, 'minions_pre/a\nb'), '')
    expect(await keys.list('pending')).toEqual(['db1', 'web1', 'web2'])
  })
})

const recorded = vectors('auth')
const pairs = vectors('keys')

describe('sign-ins recorded from a Python master', () => {
  interface Recorded {
    readonly name: string
    readonly request: { readonly load: { readonly id: string; readonly pub: string } }
    readonly signed_load?: { readonly ret?: unknown }
    readonly reply?: { readonly load?: { readonly ret?: unknown } }
  }
  /** Unreadable keys are not filed here; other line ends do not make another key (generation 3). */
  const different = new Map([
    ['auth-garbage-pub-pend', false],
    ['auth-accepted-v2-crlf', undefined],
  ])
  const rets = {
    accepted: undefined,
    pending: true,
    rejected: false,
    denied: false,
    invalid: false,
    full: 'full',
    damaged: true,
  }
  const isWhole = ({ request, reply }: Recorded) =>
    reply &&
    typeof request?.load?.id === 'string' &&
    !request.load.id.includes('\0') &&
    typeof request.load.pub === 'string'

  beforeEach(() => {
    const file = (folder: string, id: string, pem: string) => {
      mkdirSync(join(pkiDir, folder), { recursive: true })
      writeFileSync(join(pkiDir, folder, id), pem)
    }
    file('minions', 'wire1', pairs.minion_wire1_public_pem)
    file('minions_rejected', 'badguy', pairs.minion_wire2_public_pem)
  })

  test.each<Recorded>(recorded.items.filter(isWhole))('$name is decided the same way', async (item) => {
    const { id, pub } = item.request.load
    if (item.name === 'auth-pending-otherkey-v2')
      await keys.offer(id, pairs.minion_wire2_public_pem, policy())
    const full = policy({ full: async () => id === 'onemore' })
    const { verdict } = await keys.offer(id, pub, full)
    const ret = item.signed_load ? item.signed_load.ret : item.reply?.load?.ret
    expect(rets[verdict]).toEqual(different.has(item.name) ? different.get(item.name) : ret)
  })
})

function tally(verdicts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const verdict of verdicts) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}

const DAMAGES: readonly (readonly [damage: string, make: (path: string) => void])[] = [
  ['is empty', (path: string) => writeFileSync(path, '')],
  ['holds no key', (path: string) => writeFileSync(path, randomBytes(451))],
  ['is a folder, not a regular file', (path: string) => void mkdirSync(path)],
  ['is a pipe, not a regular file', (path: string) => void execFileSync('mkfifo', [path])],
  [
    'is a symbolic link to /nowhere/web1, which does not exist',
    (path: string) => symlinkSync('/nowhere/web1', path),
  ],
]

describe.each(DAMAGES)('a key file that %s', (damage, make) => {
  test.each(['minions', 'minions_pre'])(
    'in %s is named to who offers a key, and nothing is filed',
    async (folder) => {
      const path = join(pkiDir, folder, 'web1')
      mkdirSync(join(pkiDir, folder))
      make(path)
      const { verdict, reason, changes } = await keys.offer('web1', randomPem(), policy())
      expect([verdict, changes]).toEqual(['damaged', []])
      const sentence = `${path} ${damage}. Restore it from a backup, or run salt-key -d web1 and accept the key of the minion again`
      expect(reason).toBe(sentence)
      expect(await keys.damages()).toEqual([sentence])
      expect(keys.accepted('web1')).toBeUndefined()
      expect(await keys.list('denied')).toEqual([])
      await keys.remove('web1')
      expect(await verdictOf('web1', randomPem())).toBe('pending')
    },
  )
})

describe('a key that an administrator adds', () => {
  const [web1, web2] = [parseMinionId('web1'), parseMinionId('web2')]

  test('is accepted only for an id without a key', async () => {
    const [first, second] = [randomPem(), randomPem()]
    expect(await keys.add(web1, first)).toEqual([{ id: 'web1', to: 'accepted', pem: first }])
    expect(await keys.add(web1, second)).toBeUndefined()
    await keys.offer('web2', second, policy())
    expect(await keys.add(web2, first)).toBeUndefined()
    expect(await keys.list()).toMatchObject({ accepted: ['web1'], pending: ['web2'] })
  })

  test('replaces all others of its id by force', async () => {
    const [first, second, third] = [randomPem(), randomPem(), randomPem()]
    await keys.add(web1, first)
    await keys.offer('web1', second, policy())
    const changes = await keys.add(web1, third, true)
    expect(changes).toContainEqual({ id: 'web1', from: 'accepted', pem: first })
    expect(changes?.at(-1)).toEqual({ id: 'web1', to: 'accepted', pem: third })
    expect(keys.accepted('web1')?.pem).toBe(third)
    expect(await keys.list()).toEqual({ accepted: ['web1'], pending: [], rejected: [], denied: [] })
  })
})
