import { expect, test } from 'vitest'
import { AesKeys } from '../../../core/channel/aes-keys.ts'
import { createRequestServer, NotAcknowledged } from '../../../core/channel/request-server.ts'
import { decode } from '../../../core/codec/index.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { fakeLog } from '../../../core/testing/recording-log.ts'
import { packClear, refusals } from '../../../core/wire/envelope.ts'
import { Peer } from '../../harness/peer.ts'

test('100 refused requests a minute with a false sender are logged, and then their number', async () => {
  const clock = { time: 0, now: () => clock.time }
  const { log, lines } = fakeLog()
  const peer = await Peer.named('wire1')
  const { publicKey } = peer.key
  const answer = createRequestServer({
    aesKeys: new AesKeys(SymmetricKey.generate(), 0, clock),
    session: async () => ({ key: SymmetricKey.generate(), owner: publicKey, used: true }),
    publicKey: async () => publicKey,
    speaksGeneration3: async () => true,
    spokeGeneration3: async () => {},
    minimumVersion: 3,
    requestTtl: 0,
    clear: new Map(),
    encrypted: new Map(),
    deadlineMs: 1000,
    signIn: async () => Buffer.alloc(0),
    log,
    now: clock.now,
  })
  const { frame } = peer.seal({ cmd: '_return' }, { key: SymmetricKey.generate() })
  const forge = async (times: number) => {
    for (let time = 0; time < times; time++) expect(decode(await answer(frame))).toBe('bad load')
    return lines.length
  }
  expect(await forge(103)).toBe(100)
  clock.time = 60_000
  expect(await forge(2)).toBe(102)
  const why =
    'Refused a request that claims to be from wire1 and may be forged: it is not encrypted with the session key'
  expect(lines.every(({ level, message }) => level === 'warn' && message.startsWith(why))).toBe(true)
  expect(
    lines.filter(({ message }) => message.endsWith(' 3 such requests before it are not in the log.')),
  ).toEqual([lines[100]])
})

test('an error or a time-out of a handler is answered and logged', async () => {
  const clock = { now: () => Date.now() }
  const { log, lines } = fakeLog()
  const peer = await Peer.named('wire1')
  const { publicKey } = peer.key
  const session = SymmetricKey.generate()
  const broken = async () => {
    throw new Error('the store is closed')
  }
  const answer = createRequestServer({
    aesKeys: new AesKeys(SymmetricKey.generate(), 0, clock),
    session: async () => ({ key: session, owner: publicKey, used: true }),
    publicKey: async () => publicKey,
    speaksGeneration3: async () => true,
    spokeGeneration3: async () => {},
    minimumVersion: 3,
    requestTtl: 0,
    deadlineMs: 1,
    clear: new Map([['publish', broken]]),
    encrypted: new Map<string, () => Promise<unknown>>([
      ['_file_list', broken],
      ['_file_hash', () => new Promise(() => {})],
      ['_return', () => Promise.reject(new NotAcknowledged('the disk is full'))],
    ]),
    signIn: broken,
    log,
    now: clock.now,
  })
  expect(decode(await answer(packClear({ cmd: 'publish' })))).toBe(refusals.exception)
  expect(decode(await answer(packClear({ cmd: '_auth' })))).toBe(refusals.exception)
  expect(decode(await answer(packClear({ cmd: 'unheard_of' })))).toEqual({})
  for (const cmd of ['_file_list', '_file_hash']) {
    const sealed = peer.seal({ cmd }, { key: session })
    expect(sealed.open(await answer(sealed.frame))).toBe('')
  }
  expect(decode(await answer(peer.seal({ cmd: '_return' }, { key: session }).frame))).toBe(refusals.badLoad)
  const errors = lines.filter(({ level }) => level === 'error')
  expect(errors.map(({ message }) => message)).toEqual([
    'The clear command publish failed: the store is closed',
    'The clear command _auth failed: the store is closed',
    'The command _file_list of wire1 failed: the store is closed',
    'The command _file_hash of wire1 failed: no answer within 1 ms',
  ])
})
