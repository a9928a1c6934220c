import type { Context } from 'salt-ts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import * as publish from '../../../modules/publish.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const request = vi.fn()
const ask = (fn: AnyFn, given: object, more: object = {}) =>
  call(
    fn,
    given as Record<string, unknown>,
    fakeContext({
      id: 'web1',
      opts: { master: 'salt.example' } as Context['opts'],
      minion: { request } as unknown as Context['minion'],
      ...more,
    }),
  )

const wanted = { tgt: 'db*', fun: 'test.ping', tgt_type: 'glob', returner: '', timeout: 5 }

/** A master: publishes for db1 and db2, whose returns are there one after the other. */
function masterThatPublishes() {
  const returns: Record<string, { ret: unknown; out?: string }> = {}
  request.mockImplementation(async ({ cmd }: { cmd: string }) => {
    if (cmd === 'minion_pub') return { jid: '20261121101112131415', minions: ['db1', 'db2'] }
    const [next] = ['db1', 'db2'].filter((id) => !(id in returns))
    if (next) returns[next] = { ret: `of ${next}`, out: 'txt' }
    return { ...returns }
  })
}

beforeEach(() => void request.mockReset())

describe('publish', () => {
  test('requests returns until all have arrived', SLOW, async () => {
    masterThatPublishes()
    expect(await ask(publish.publish, { ...wanted, arg: 'x' })).toEqual({ db1: 'of db1', db2: 'of db2' })
    expect(request.mock.calls.map(([load]) => load.cmd)).toEqual(['minion_pub', 'pub_ret', 'pub_ret'])
    expect(request.mock.calls[0]?.[0]).toMatchObject({
      fun: 'test.ping',
      arg: ['x'],
      tgt: 'db*',
      tgt_type: 'glob',
      ret: '',
      tmo: 5,
      form: 'clean',
      id: 'web1',
    })
  })

  test('returns the returns so far after the time-out', async () => {
    masterThatPublishes()
    expect(await ask(publish.full_data, { ...wanted, timeout: 0 })).toEqual({
      db1: { ret: 'of db1', out: 'txt' },
    })
  })

  test('does not wait if no minion matches', async () => {
    request.mockResolvedValue({ jid: 0, minions: [] })
    expect(await ask(publish.publish, wanted)).toEqual({})
    expect(request).toHaveBeenCalledTimes(1)
  })

  test.each([
    [
      { refused: { reason: 'No rule allows it.' } },
      'The master did not publish test.ping. No rule allows it.',
    ],
    [{}, 'The master did not publish test.ping. Allow it for this minion in the option peer of the master.'],
    ['', 'The master returned an invalid answer. Its log may contain the reason.'],
  ])('reads %j as a refusal', async (answer, sentence) => {
    request.mockResolvedValue(answer)
    await expect(ask(publish.publish, wanted)).rejects.toThrow(sentence)
  })

  test('is refused for a job that a minion published, and returns nothing for functions that publish', async () => {
    const job = { jid: '1', fun: 'publish.publish', arg: [], tgt: '*', tgt_type: 'glob', ret: '', id: 'web9' }
    await expect(ask(publish.publish, wanted, { job })).rejects.toThrow('published by the minion web9')
    for (const fun of ['publish.publish', 'test.ping,publish.runner'])
      expect(await ask(publish.publish, { ...wanted, fun })).toEqual({})
    expect(request).not.toHaveBeenCalled()
  })

  test.each([{ file_client: 'local' }, { master_type: 'disable' }])(
    'returns the same as Salt without a master: %j',
    async (opts) => {
      request.mockRejectedValue(Object.assign(new Error('no master'), { code: 'MASTER_UNREACHABLE' }))
      expect(await ask(publish.publish, wanted, { opts })).toEqual({})
      expect(await ask(publish.full_data, wanted, { opts })).toEqual({})
      expect(await ask(publish.runner, { fun: 'manage.up', timeout: 5 }, { opts })).toBe(
        'No access to master. If using salt-call with --local, please remove.',
      )
      await expect(ask(publish.publish, wanted)).rejects.toThrow('no master')
    },
  )

  test('is sent to the master that the job came from, and to no other', SLOW, async () => {
    masterThatPublishes()
    expect(await ask(publish.publish, { ...wanted, via_master: 'salt.example' })).toMatchObject({
      db1: 'of db1',
    })
    await expect(ask(publish.publish, { ...wanted, via_master: 'other' })).rejects.toThrow(
      'via_master is other',
    )
  })
})

test('runner returns the result of the runner, of any type', async () => {
  for (const answer of [['db1'], {}, null, 'text', { refused: 'by a runner' }]) {
    request.mockResolvedValue(answer)
    expect(await ask(publish.runner, { fun: 'manage.up', timeout: 5 })).toEqual(answer)
  }
  request.mockResolvedValue({ refused: { reason: 'No rule of peer_run allows it.' } })
  await expect(ask(publish.runner, { fun: 'manage.up', timeout: 5 })).rejects.toThrow('No rule of peer_run')
})
