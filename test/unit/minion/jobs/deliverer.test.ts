import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Deferred, deferred } from '../../../../core/base/deferred.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import { decode, Encoded, encodeNetwork } from '../../../../core/codec/index.ts'
import { ReturnSpool, type SpoolEntry } from '../../../../core/jobs/return-spool.ts'
import { Deliverer, type DelivererSettings } from '../../../../core/minion/jobs/deliverer.ts'
import { recordingLog } from '../../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

let folder: string
let spool: ReturnSpool
let deliverer: Deliverer
let logged: string[]

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-deliverer-')
  spool = ReturnSpool.open(folder)
  logged = []
})
afterEach(async () => {
  await deliverer.close(0)
  await spool.close()
  await removeFolder(folder)
})

const log = recordingLog((level, message) => logged.push(`${level}: ${message}`))

const open = (
  send: DelivererSettings['send'],
  spooled: readonly SpoolEntry[] = [],
  retry: DelivererSettings['retry'] = { min: 0.01, max: 0.02 },
) => {
  deliverer = new Deliverer({ spool, spooled, send, log, retry })
}
const add = (number: number) => spool.add({ jid: `2026112100000000000${number}`, ret: { return: number } })
const spooledReturns = () => spool.pending().map(({ ret }) => ret.return)
const spoolEmptied = () => until('an empty spool', () => spooledReturns().length === 0)

test('a return leaves the spool when the master has acknowledged it, not before', async () => {
  const answer = deferred<null>()
  const sent: unknown[] = []
  open((ret) => {
    sent.push(ret.return)
    return answer.promise
  })
  deliverer.deliver(await add(1))
  await until('it to be sent', () => sent.length === 1)
  expect(spooledReturns()).toEqual([1])
  answer.resolve(null)
  await spoolEmptied()
  expect(sent).toEqual([1])
})

test('returns that an earlier minion process left in the spool are delivered, too', async () => {
  await add(1)
  await add(2)
  const sent: unknown[] = []
  open(async (ret) => sent.push(ret.return) && null, spool.pending())
  await spoolEmptied()
  expect(sent).toEqual([1, 2])
})

test('a return is sent again and again while no master answers', async () => {
  let tries = 0
  open(async () => {
    if (++tries < 5) throw new Error('no answer')
    return null
  })
  deliverer.deliver(await add(1))
  await spoolEmptied()
  expect(tries).toBe(5)
  expect(logged.filter((line) => line.startsWith('info: Minion return retry timer set'))).toHaveLength(4)
})

test('after an answer that is no acknowledgement the next try is delayed ever longer', SLOW, async () => {
  let tries = 0
  open(async () => (++tries < 5 ? 'disk full' : null), [], { min: 0.1, max: 0.1 })
  deliverer.deliver(await add(1))
  await spoolEmptied()
  const waits = logged.map(
    (line) => /set to (\S+) seconds .*: the master answered "disk full"$/.exec(line)?.[1],
  )
  expect(waits).toEqual(['0.1', '0.2', '0.4', '0.8'])
})

test('a return that is too large for any master is replaced by one that reports this', async () => {
  const sent: unknown[] = []
  open(async (ret) => {
    sent.push(ret)
    if (ret.return instanceof Encoded) throw new SaltError('MESSAGE_TOO_LARGE', 'It is too large.')
    return null
  })
  const ret = { jid: '20261121000000000001', fun: 'big.text', return: new Encoded(encodeNetwork('long')) }
  deliverer.deliver(await spool.add({ jid: ret.jid, ret, master: '10.0.0.1' }))
  await spoolEmptied()
  expect(sent[1]).toEqual({
    jid: ret.jid,
    fun: 'big.text',
    return: 'ERROR: It is too large.',
    retcode: 1,
    success: false,
    out: 'nested',
  })
  expect(logged).toEqual([`error: The return of job ${ret.jid} cannot be sent: It is too large.`])
})

test('an answer that JSON cannot express is shown, and the return is sent again', async () => {
  const answers: unknown[] = [[9007199254740993n], null]
  open(async () => answers.shift())
  deliverer.deliver(await add(1))
  await spoolEmptied()
  expect(logged.join()).toContain('the master answered [9007199254740993]')
})

test('apart from an acknowledgement only a permanent refusal drops a return, with an error in the log', async () => {
  open(async () => false)
  deliverer.deliver(await add(1))
  await spoolEmptied()
  expect(logged).toEqual([
    expect.stringMatching(/^error: The master refused the return of job \d+; it is dropped/),
  ])
})

test('one unanswered return does not delay the others, and no more than eight are sent at once', async () => {
  const stuck = deferred<null>()
  let under = 0
  let most = 0
  open(async (ret) => {
    most = Math.max(most, ++under)
    await (ret.return === 0 ? stuck.promise : new Promise((done) => setTimeout(done, 5)))
    under--
    return null
  })
  for (let number = 0; number < 10; number++) deliverer.deliver(await add(number))
  for (let number = 10; number < 30; number++) {
    deliverer.deliver(await spool.add({ jid: `202611210000000000${number}`, ret: { return: number } }))
  }
  await until('all but the first', () => spooledReturns().length === 1)
  expect(spooledReturns()).toEqual([0])
  expect(most).toBeLessThanOrEqual(8)
  stuck.resolve(null)
  await spoolEmptied()
})

test('large returns are sent one at a time, beside the others, and their memory is freed', async () => {
  const large = async (jid: string) =>
    spool.add({ jid, ret: { return: new Encoded(encodeNetwork(`large ${jid}`)) } })
  const answers = new Map<string, Deferred<null>>()
  const under: string[] = []
  let collected = 0
  deliverer = new Deliverer({
    spool,
    spooled: [],
    async send(ret) {
      if (!(ret.return instanceof Encoded)) return null
      const name = String(decode(ret.return.bytes))
      under.push(name)
      answers.set(name, deferred<null>())
      return answers.get(name)?.promise
    },
    collect: () => collected++,
    log,
    retry: { min: 0.01, max: 0.02 },
  })
  for (const jid of ['20261121000000000001', '20261121000000000002']) deliverer.deliver(await large(jid))
  deliverer.deliver(await add(3))
  await until('the small one to be delivered', () => spool.size === 2)
  expect(under).toEqual(['large 20261121000000000001'])
  answers.get('large 20261121000000000001')?.resolve(null)
  await until('the second', () => under.length === 2)
  expect(collected).toBe(1)
  answers.get('large 20261121000000000002')?.resolve(null)
  await until('an empty spool', () => spool.size === 0)
  expect(collected).toBe(2)
})

test('a return that can no longer be read is logged, and delays no others', async () => {
  const entry = await add(1)
  await spool.done(entry)
  open(async () => null)
  deliverer.deliver(entry)
  await until('it to be told', () => logged.some((line) => line.includes('is no longer in the spool')))
  deliverer.deliver(await add(2))
  await spoolEmptied()
})

test('at the end it waits for returns that are being sent; undelivered ones stay in the spool', async () => {
  const answer = deferred<null>()
  let sent = 0
  open(() => {
    sent++
    return answer.promise
  })
  for (let number = 0; number < 10; number++) deliverer.deliver(await add(number))
  const closed = deliverer.close(10_000)
  answer.resolve(null)
  await closed
  expect(sent).toBe(8)
  expect(spooledReturns()).toEqual([8, 9])
})

test('at the end it does not wait longer than its limit', async () => {
  open(() => new Promise(() => {}))
  deliverer.deliver(await add(1))
  await deliverer.close(20)
  expect(spooledReturns()).toEqual([1])
})

test('an entry that is being sent is sent once, however often it is found', async () => {
  const answer = deferred<null>()
  const sent: unknown[] = []
  open((ret) => {
    sent.push(ret.return)
    return answer.promise
  })
  const entry = await add(1)
  deliverer.deliver(entry)
  deliverer.deliver(spool.pending()[0]!)
  expect(deliverer.holds(entry)).toBe(true)
  answer.resolve(null)
  await until('nothing to be held', () => deliverer.size === 0)
  expect(sent).toEqual([1])
})
