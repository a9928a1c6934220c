/** The audit log of a master has the user, the request and the rule of each request, and no secrets. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listAudit, verifyAudit } from '../../core/auth/audit/index.ts'
import { decode } from '../../core/codec/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import type { Via } from '../../core/wire/via.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { until } from '../harness/until.ts'

const CANARY = 'c4n4ry-secret'

const auth_dirs = [fileURLToPath(new URL('../fixtures/auth', import.meta.url))]

let master: InProcessMaster
let key: string
beforeEach(async () => {
  const external_auth = {
    listed: { '^users': { fred: { password: CANARY, groups: [] } }, fred: ['test.*', '@jobs'] },
  }
  master = await InProcessMaster.open({ options: { external_auth, auth_dirs } })
  key = await master.rootKey()
  await master.file('web1', (await keyPair('minion')).publicKey)
})
afterEach(async () => {
  expect((await verifyAudit(master.config.audit_log, undefined)).problems).toEqual([])
  expect(await readFile(master.config.audit_log, 'utf8')).not.toContain(CANARY)
  await master.close()
})

const clear = async (load: object, via?: Via): Promise<Record<string, unknown>> =>
  decode(await master.answer(packClear(load as Record<string, unknown>, 3, via))) as Record<string, unknown>

const lines = () => listAudit(master.config.audit_log, {})
const publish = (more: object) =>
  clear({ cmd: 'publish', tgt: '*', fun: 'test.ping', arg: [], user: 'root', key, ...more })
const eauth = { eauth: 'listed', username: 'fred', password: CANARY }

test('the audit log records a job with its id and the rule that allows it', async () => {
  const { load } = (await publish({ arg: ['a', { __kwarg__: true, b: 1 }] })) as { load: { jid: string } }
  expect(await lines()).toMatchObject([
    {
      seq: 1,
      act: 'publish',
      verdict: 'allowed',
      user: 'root',
      by: 'key',
      fun: 'test.ping',
      tgt: '*',
      args: ['a', { __kwarg__: true, b: 1 }],
      jid: load.jid,
      rule: "the key of the master's user",
    },
  ])
})

test('the audit log records a batch', async () => {
  await publish({ kwargs: { batch: '1' } })
  expect(await lines()).toMatchObject([{ act: 'batch', verdict: 'allowed', user: 'root' }])
})

test('the audit log records that an authenticated user may not run a function, with the reason', async () => {
  await publish({ fun: 'cmd.run', kwargs: eauth, user: 'fred' })
  expect(await lines()).toMatchObject([
    {
      act: 'publish',
      verdict: 'refused',
      user: 'fred',
      by: 'eauth',
      fun: 'cmd.run',
      reason: expect.any(String),
    },
  ])
})

test('unauthenticated requests are logged as claims, without arguments, and at most 100 of 200', async () => {
  await publish({ key: CANARY, arg: [CANARY] })
  await clear({ cmd: 'runner', fun: 'jobs.active', user: 'root', key: CANARY, kwarg: { arg: [CANARY] } })
  await clear({ cmd: 'wheel', fun: 'key.list_all', token: CANARY })
  await clear({ cmd: 'mk_token', eauth: 'nothing', username: 'eve', password: CANARY })
  const found = await lines()
  expect(found.map(({ act, verdict, claimed, user, by }) => [act, verdict, claimed, user, by])).toEqual([
    ['publish', 'refused', true, 'root', 'key'],
    ['runner', 'refused', true, 'root', 'key'],
    ['wheel', 'refused', true, '', 'token'],
    ['login', 'refused', true, 'eve', 'eauth'],
  ])
  expect(found.some((line) => 'args' in line)).toBe(false)
  await Promise.all(Array.from({ length: 200 }, () => publish({ key: 'wrong' })))
  expect((await listAudit(master.config.audit_log, { limit: 1000 })).length).toBe(100)
})

test('logging in and out is logged without password and token', async () => {
  const { token } = (await clear({ cmd: 'mk_token', ...eauth })) as { token: string }
  await publish({ kwargs: { token }, user: 'fred' })
  await clear({ cmd: '_revoke_token', token })
  expect((await lines()).map(({ act, verdict, user, by, eauth }) => [act, verdict, user, by, eauth])).toEqual(
    [
      ['login', 'allowed', 'fred', 'eauth', 'listed'],
      ['publish', 'allowed', 'fred', 'token', 'listed'],
      ['logout', 'allowed', 'fred', 'token', undefined],
    ],
  )
  expect(await readFile(master.config.audit_log, 'utf8')).not.toContain(token)
})

test('runners and wheel functions are logged with secrets masked', async () => {
  const { jid } = await clear({ cmd: 'runner', fun: 'test.arg', user: 'root', key, kwarg: { arg: [1] } })
  await until('the runner is over', () => master.context.jobs.return(String(jid), master.config.id))
  await clear({ cmd: 'wheel', fun: 'key.list_all', user: 'root', key })
  const kwarg = { arg: [], kwarg: { eauth: 'listed', username: 'eve', password: CANARY } }
  await clear({ cmd: 'runner', fun: 'auth.mk_token', ...eauth, kwarg })
  expect(await lines()).toMatchObject([
    { act: 'runner', verdict: 'allowed', user: 'root', fun: 'test.arg', args: [1], jid },
    { act: 'wheel', verdict: 'allowed', fun: 'key.list_all' },
    {
      act: 'runner',
      verdict: 'refused',
      user: 'fred',
      fun: 'auth.mk_token',
      args: [{ eauth: 'listed', username: 'eve', password: '**********' }],
      reason: expect.stringContaining('fred may not'),
    },
  ])
})

test('the address of the client that an HTTP API passes on is logged as a claim in each line', async () => {
  const via = { address: '2001:db8::7' }
  const publish = { cmd: 'publish', tgt: '*', fun: 'test.ping', arg: [], user: 'root' }
  await clear({ ...publish, key }, via)
  await clear({ ...publish, key: 'wrong' }, via)
  await clear({ ...publish, fun: 'cmd.run', kwargs: eauth }, via)
  await clear({ ...publish, cmd: '_plan', fun: 'cmd.run', kwargs: eauth }, via)
  const { token } = (await clear({ cmd: 'mk_token', ...eauth }, via)) as { token: string }
  await clear({ cmd: 'mk_token', ...eauth, password: 'wrong' }, via)
  const { jid } = await clear({ cmd: 'runner', fun: 'test.arg', token, kwarg: { arg: [1] } }, via)
  await clear({ cmd: 'wheel', fun: 'key.list_all', token }, via)
  await clear({ cmd: '_revoke_token', token }, via)
  expect(jid).toBeUndefined() // fred may not
  const found = await lines()
  expect(found.map(({ act, verdict }) => [act, verdict])).toEqual([
    ['publish', 'allowed'],
    ['publish', 'refused'],
    ['publish', 'refused'],
    ['plan', 'refused'],
    ['login', 'allowed'],
    ['login', 'refused'],
    ['runner', 'refused'],
    ['wheel', 'refused'],
    ['logout', 'allowed'],
  ])
  for (const line of found) expect(line.via).toEqual({ claimed_address: via.address })
})

test.each([
  'not an address',
  `fe80::1%${'x'.repeat(100)}`,
  { api: 'api-far', address: '10.0.0.7' },
  ['10.0.0.7'],
  null,
])('an invalid or unproven client address is left out of the audit log: %j', async (address) => {
  const said = { address, api: 'api-far' } as unknown as Via
  const inLoad = { via: { address: '10.0.0.7' } }
  await clear({ cmd: 'publish', tgt: '*', fun: 'test.ping', arg: [], user: 'root', key, ...inLoad }, said)
  const [line] = await lines()
  expect(line).toMatchObject({ act: 'publish', verdict: 'allowed' })
  expect(line).not.toHaveProperty('via')
})

test('lines can be listed by the address of the client', async () => {
  await clear({ cmd: 'mk_token', ...eauth, password: 'wrong' }, { address: '10.0.0.7' })
  await clear({ cmd: 'mk_token', ...eauth, password: 'wrong' }, { address: '10.1.0.7' })
  await publish({})
  const of = async (address: string) => (await listAudit(master.config.audit_log, { address })).length
  expect([await of('10.0.0.7'), await of('10.*'), await of('*')]).toEqual([1, 2, 2])
})
