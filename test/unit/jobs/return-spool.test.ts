import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decode, Encoded, encodeNetwork } from '../../../core/codec/index.ts'
import { ReturnSpool } from '../../../core/jobs/return-spool.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const jid = '20240229120000000002'
const ret = { jid, id: 'web1', return: { text: 'ż', bytes: Buffer.from([0xff]) }, retcode: 0, success: true }

let directory: string
const open: ReturnSpool[] = []

function openSpool(): ReturnSpool {
  const spool = ReturnSpool.open(directory)
  open.push(spool)
  return spool
}

beforeEach(async () => {
  directory = await temporaryFolder('salt-spool-')
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((spool) => spool.close()))
  await removeFolder(directory)
})

describe('a return in the spool', () => {
  test('is still there after a restart, with all its fields', async () => {
    await openSpool().add({ jid, ret, master: '10.0.0.1', job: { fun: 'test.ping', jid } })
    await open.pop()?.close()
    const [entry, ...others] = openSpool().pending()
    expect(others).toEqual([])
    expect(entry).toMatchObject({ jid, ret, master: '10.0.0.1', job: { fun: 'test.ping' } })
  })

  test('is stored for returners with options that JSON cannot express', async () => {
    const spool = openSpool()
    const job = { jid, ret: 'postgres', ret_kwargs: { id: 9007199254740993n, bytes: Buffer.from([0xff]) } }
    await spool.add({ jid, ret, job })
    expect(spool.find(jid)).toEqual(ret)
    expect(spool.outbox?.targets()).toHaveLength(1)
  })

  test('is stored for returners whose names are too long for keys of a store', async () => {
    const spool = openSpool()
    await spool.add({ jid, ret, job: { jid, ret: 'a\0b,\u{10ffff}' } })
    expect(spool.find(jid)).toEqual(ret)
    expect(spool.outbox?.targets().sort()).toEqual(['a\0b', '\u{10ffff}'])
  })

  test('is removed once it is done', async () => {
    const spool = openSpool()
    await spool.done(await spool.add({ jid, ret }))
    expect(spool.pending()).toEqual([])
    expect(spool.find(jid)).toBeUndefined()
  })

  test('is the first one of its job, or refused', async () => {
    const spool = openSpool()
    expect(await spool.addFirst({ jid, ret })).toMatchObject({ jid, ret })
    expect(await spool.addFirst({ jid, ret: { ...ret, return: 'lost' } })).toBeUndefined()
    expect(spool.pending().map((entry) => entry.ret)).toEqual([ret])
  })

  test('is found by its jid', async () => {
    const spool = openSpool()
    await spool.add({ jid, ret })
    expect(spool.find(jid)).toEqual(ret)
    expect(spool.find('20240229120000000003')).toBeUndefined()
  })

  test('comes before those of later jobs, and several of one job are kept separately', async () => {
    const spool = openSpool()
    const first = '20240229120000000001'
    await spool.add({ jid, ret: { return: 3 } })
    const [one] = await Promise.all([1, 2].map((n) => spool.add({ jid: first, ret: { return: n } })))
    const returns = () => spool.pending().map((entry) => entry.ret.return)
    expect(returns()).toEqual([1, 2, 3])
    if (one) await spool.done(one)
    await spool.add({ jid: first, ret: { return: 4 } })
    expect(returns()).toEqual([2, 4, 3])
  })

  test('that a job process adds is visible to the minion', async () => {
    const minion = openSpool()
    await openSpool().add({ jid, ret })
    expect(minion.pending()).toHaveLength(1)
  })

  test('without a jid is refused', async () => {
    await expect(openSpool().add({ jid: 'req', ret })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
  })
})

describe('a large return in the spool', () => {
  const value = { text: 'ż'.repeat(100_000), bytes: Buffer.from([0xff]) }
  const large = { ...ret, return: new Encoded(encodeNetwork(value)) }

  test('is found as it was returned, after a restart, too', async () => {
    await openSpool().add({ jid, ret: large, job: { fun: 'big.text', jid } })
    await open.pop()?.close()
    const spool = openSpool()
    expect(spool.find(jid)).toEqual({ ...ret, return: value })
    expect(spool.pending()).toMatchObject([{ jid, isLarge: true, ret: { return: value }, job: { jid } }])
  })

  test('is read for the master with its value as it was encoded', async () => {
    const spool = openSpool()
    const read = spool.read(await spool.add({ jid, ret: large }))
    expect(Object.keys(read ?? {})).toEqual(Object.keys(ret))
    expect(read?.return instanceof Encoded && decode(read.return.bytes)).toEqual(value)
  })

  test('that another process has added is found by its position', async () => {
    const spool = openSpool()
    const { key } = await openSpool().add({ jid, ret: large, master: '10.0.0.1' })
    expect(spool.at(key)).toMatchObject({ jid, isLarge: true, master: '10.0.0.1' })
  })

  test('leaves no file once it is done', async () => {
    const spool = openSpool()
    const entry = await spool.add({ jid, ret: large })
    await spool.done(entry)
    expect(spool.read(entry)).toBeUndefined()
    expect(entry.isLarge).toBe(false)
    expect(spool.find(jid)).toBeUndefined()
  })

  test('is passed to returners as a whole', async () => {
    const spool = openSpool()
    await spool.add({ jid, ret: large, job: { jid, ret: 'mongo' } })
    const batch = await spool.outbox?.next('mongo')
    expect(batch?.entries).toMatchObject([{ item: { kind: 'return', ret: { ...ret, return: value } } }])
  })
})

test('an empty spool has no entries and refuses new ones', async () => {
  const spool = ReturnSpool.empty()
  expect(spool.pending()).toEqual([])
  expect(spool.find(jid)).toBeUndefined()
  await expect(spool.add({ jid, ret })).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await spool.close()
})
