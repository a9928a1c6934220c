import { expect, test } from 'vitest'
import { AesKeys } from '../../../core/channel/aes-keys.ts'
import { createRequestServer } from '../../../core/channel/request-server.ts'
import { decode } from '../../../core/codec/index.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { fakeLog } from '../../../core/testing/recording-log.ts'
import { Peer } from '../../harness/peer.ts'

test('of requests in the name of others 100 a minute are in the log, and then how many are not', async () => {
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
    ...{ minimumVersion: 3, requestTtl: 0, clear: new Map(), encrypted: new Map(), deadlineMs: 1000 },
    ...{ signIn: async () => Buffer.alloc(0), log, now: clock.now },
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
    "Refused a request in the name of wire1, which may be another's: it is not encrypted with the session key"
  expect(lines.every(({ level, message }) => level === 'warn' && message.startsWith(why))).toBe(true)
  expect(
    lines.filter(({ message }) => message.endsWith(' 3 such requests before it are not in the log.')),
  ).toEqual([lines[100]])
})
