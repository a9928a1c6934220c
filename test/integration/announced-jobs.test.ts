/** The events and files of a job on the master's host, compared with those of a real master. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster
let web1: Peer
afterEach(() => master.close())

const ask = (frame: Uint8Array) => master.answer(frame)

async function open(options: Record<string, unknown> = {}): Promise<void> {
  master = await InProcessMaster.open({ options })
  web1 = await Peer.named('wire1')
  await master.file('wire1', web1.key.publicKey)
  await web1.signIn(ask)
  master.events.length = 0
}

async function publish(tgt: unknown = '*', tgt_type = 'glob'): Promise<string> {
  const load = { cmd: 'publish', tgt, tgt_type, fun: 'test.ping', arg: [], ret: '', jid: '', user: 'root' }
  const reply = decode(await ask(packClear({ ...load, key: await master.rootKey() })))
  return (reply as { load: { jid: string } }).load.jid
}

const give = (load: Record<string, unknown>) =>
  ask(web1.seal({ cmd: '_return', id: 'wire1', success: true, return: true, retcode: 0, ...load }).frame)

/** A file of Salt's own job cache (wire protocol §13.2). */
async function file(jid: string, ...name: string[]): Promise<unknown> {
  const hash = createHash('sha256').update(jid).digest('hex')
  const folder = join(master.config.cachedir, 'jobs', hash.slice(0, 2), hash.slice(2))
  return decode(await readFile(join(folder, ...name)))
}

describe('a published job', () => {
  test('is announced first with its minions alone, then in full, with keys in the order of real masters', async () => {
    await open()
    const jid = await publish(['wire1', 'nobody'], 'list')
    expect(master.events.map(({ tag }) => tag)).toEqual([jid, `salt/job/${jid}/new`])
    const [short, full] = master.events.map(({ data }) => data)
    expect(short).toEqual({ minions: ['wire1'] })
    expect(Object.keys(full!)).toEqual([
      'jid',
      'tgt_type',
      'tgt',
      'user',
      'fun',
      'arg',
      'minions',
      'missing',
      'owner',
    ])
  })

  test("can be waited for by Salt's own programs, which look for its files", async () => {
    await open()
    const jid = await publish()
    expect(await file(jid, '.load.p')).toMatchObject({
      fun: 'test.ping',
      tgt: '*',
      tgt_type: 'glob',
      jid,
      user: 'root',
    })
    expect(await file(jid, '.minions.p')).toEqual(['wire1'])
    await give({ jid, fun: 'test.ping', fun_args: [] })
    await expect(file(jid, 'wire1', 'return.p')).rejects.toThrow('ENOENT')
  })

  test('asks its minions to write to the store of ext_job_cache', async () => {
    await open({ ext_job_cache: 'postgres' })
    const jid = await publish()
    expect(master.published.map(({ job }) => job)).toMatchObject([{ jid, ret: 'postgres' }])
  })

  test("with python_job_cache has returns that Salt's own programs can look up", async () => {
    await open({ python_job_cache: true })
    const jid = await publish()
    await give({ jid, fun: 'test.ping', fun_args: [], out: 'txt' })
    expect(await file(jid, 'wire1', 'return.p')).toEqual({ return: true, retcode: 0, success: true })
    expect(await file(jid, 'wire1', 'out.p')).toBe('txt')
  })

  test('without a job cache leaves no files', async () => {
    await open({ job_cache: false, python_job_cache: true })
    const jid = await publish()
    await give({ jid, fun: 'test.ping', fun_args: [] })
    await expect(file(jid, '.load.p')).rejects.toThrow('ENOENT')
  })
})

describe('a return without a job, of salt-call or a schedule', () => {
  const load = { jid: 'req', fun: 'test.echo', fun_args: ['x'] }

  test('is announced once, as the return of a job that is made for it', async () => {
    await open()
    await give(load)
    const [event, ...more] = master.events
    const { jid } = event!.data
    expect(more).toEqual([])
    expect(event!.tag).toBe(`salt/job/${String(jid)}/ret/wire1`)
    expect(Object.keys(event!.data).slice(-3)).toEqual(['arg', 'tgt_type', 'tgt'])
    expect(event!.data).toMatchObject({ arg: ['x'], tgt_type: 'glob', tgt: 'wire1', fun_args: ['x'] })
    expect(master.context.jobs.load(String(jid))?.load).toMatchObject({ fun: 'test.echo', tgt: 'wire1' })
  })

  test('is attributed to the minion, whatever user it names', async () => {
    await open()
    await give({ ...load, user: 'root' })
    const jid = String(master.events[0]!.data.jid)
    expect(master.context.jobs.load(jid)?.load).toMatchObject({ user: 'wire1', owner: 'minion:wire1' })
  })

  test.each([{ fun: { name: 'test.echo' } }, { fun: ['test.echo', 1] }, { fun: undefined }])(
    'is no job where fun is no text or list of texts: %j',
    async (wrong) => {
      await open()
      await give({ ...load, ...wrong })
      expect([...master.context.jobs.list()]).toEqual([])
      expect(master.events).toEqual([])
    },
  )

  test('has files only with python_job_cache', async () => {
    await open({ python_job_cache: true })
    await give(load)
    const jid = String(master.events[0]!.data.jid)
    expect(await file(jid, '.load.p')).toMatchObject({ fun: 'test.echo', tgt: 'wire1', tgt_type: 'glob' })
    expect(await file(jid, 'wire1', 'return.p')).toMatchObject({ return: true })
  })
})
