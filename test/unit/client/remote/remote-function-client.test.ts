/** Runners, wheel functions and keys through `external_auth`, with a master that answers as Salt's (wire protocol §8.2). */
import { mkdir } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SaltError } from '../../../../core/base/errors.ts'
import type { ExternalAuth } from '../../../../core/client/local/external-auth.ts'
import { linkLocal } from '../../../../core/client/local/master-link.ts'
import { RemoteFunctionClient } from '../../../../core/client/remote/remote-function-client.ts'
import { remoteKeyOperations } from '../../../../core/client/remote/remote-key-operations.ts'
import { decode, encodeNetwork } from '../../../../core/codec/index.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { EventBus, EventPublisher, masterEventSockets } from '../../../../core/events/index.ts'
import { storeRun } from '../../../../core/runs/stored-run.ts'
import type { RequestServer } from '../../../../core/transport/contract.ts'
import { getTransport } from '../../../../core/transport/index.ts'
import { serveRequests } from '../../../../core/transport/serve-requests.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const JID = '20261122010203000004'
const alice = { eauth: 'pam', username: 'alice', password: 's3cret' }
type Load = Record<string, unknown>

let folder: string
let config: MasterConfig
let server: RequestServer
let publisher: EventPublisher
let bus: EventBus
let asked: Load[]
/** What the master answers. */
let answer: (load: Load) => unknown

const openPublisher = () => EventPublisher.open({ ...masterEventSockets(config), maxEventSize: 1_048_576 })

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-remote-')
  server = await serveRequests(getTransport('zeromq'), { host: '127.0.0.1', port: 0 })
  const overrides = { root_dir: folder, sock_dir: '/run', interface: '127.0.0.1', ret_port: server.port }
  config = loadMasterConfig({ configDir: folder, overrides }).config
  await mkdir(config.sock_dir, { recursive: true })
  publisher = await openPublisher()
  bus = await EventBus.connect(masterEventSockets(config))
  asked = []
  server.serve(async (frame) => {
    const { load } = decode(frame) as { load: Load }
    asked.push(load)
    return encodeNetwork(answer(load))
  })
})
afterEach(async () => {
  await Promise.all([server.close(), bus.close()])
  await publisher.close()
  await removeFolder(folder)
})

const asking = async <T>(
  kind: 'runner' | 'wheel',
  work: (client: RemoteFunctionClient) => Promise<T>,
  auth: ExternalAuth = alice,
) => {
  const client = new RemoteFunctionClient(kind, config, auth)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Answers as the master does, and fires these events of the runner behind it. */
function begins(...events: [tag: string, data: Load][]) {
  answer = () => {
    void (async () => {
      for (const [tag, data] of events) await bus.fire(tag, data)
    })()
    return { tag: `salt/run/${JID}`, jid: JID }
  }
}

describe('a runner', () => {
  test('is requested with the credentials; its progress and result come as events', async () => {
    const told: unknown[] = []
    begins(
      ['salt/run/20261122010203000005/ret', { return: 'of another', success: true }],
      [`salt/run/${JID}/progress`, { message: 'half' }],
      [`salt/run/${JID}/ret`, { return: { data: { a: 1 }, outputter: 'txt' }, success: true, jid: JID }],
    )
    const onProgress = (data: object) => void told.push(data)
    const ran = await asking('runner', (client) => client.run('test.arg', [1], { a: 2 }, { onProgress }))
    expect(ran).toEqual({ jid: JID, return: { a: 1 }, outputter: 'txt', success: true, retcode: 0 })
    expect(asked).toEqual([
      { cmd: 'runner', fun: 'test.arg', kwarg: { arg: [1], kwarg: { a: 2 } }, ...alice },
    ])
    expect(told).toEqual([{ message: 'half' }])
  })

  test('whose result is too large for an event has the one of the job cache', async () => {
    const value = { text: 'y'.repeat(2_000_000), number: 1 }
    const end = {
      jid: JID,
      fun: 'runner.test.arg',
      user: 'alice',
      fun_args: [],
      return: value,
      success: true,
    }
    await storeRun(config, end)
    begins([`salt/run/${JID}/ret`, end])
    expect(await asking('runner', (client) => client.run('test.arg', [], {}))).toMatchObject({
      return: value,
      success: true,
    })
  })

  test('that fails has an exit code', async () => {
    begins([`salt/run/${JID}/ret`, { return: 'broken', success: false }])
    const ran = await asking('runner', (client) => client.run('test.arg', [], {}), { token: 'abc' })
    expect(ran).toEqual({ jid: JID, return: 'broken', success: false, retcode: 1 })
    expect(asked[0]).toMatchObject({ token: 'abc' })
  })

  test('continues when the caller stops waiting', async () => {
    const stop = new AbortController()
    const told: unknown[] = []
    begins([`salt/run/${JID}/progress`, { message: 'half' }])
    const onProgress = (data: object) => void (told.push(data) && stop.abort())
    const options = { signal: stop.signal, onProgress }
    const ran = await asking('runner', (client) => client.run('test.sleep', [], {}, options))
    expect(ran).toMatchObject({ success: false, return: null })
    expect(told[1]).toEqual({
      message: `It continues on the master. Look up the result: salt-run jobs.lookup_jid ${JID}`,
    })
  })

  test('whose end may have been missed is an error', async () => {
    answer = () => {
      void publisher.close().then(async () => {
        publisher = await openPublisher()
      })
      return { tag: `salt/run/${JID}`, jid: JID }
    }
    await expect(asking('runner', (client) => client.run('test.sleep', [], {}))).rejects.toMatchObject({
      code: 'MASTER_UNREACHABLE',
      message: expect.stringContaining(`salt-run jobs.lookup_jid ${JID}`),
    })
  })

  test('with start gives a job id at once', async () => {
    begins()
    const started = await asking('runner', (client) => client.start('test.arg', [], {}))
    expect(started).toEqual({ jid: JID, tag: `salt/run/${JID}` })
  })

  test('refuses a given job id', async () => {
    for (const way of ['run', 'start'] as const)
      await expect(
        asking<object>('runner', (client) => client[way]('test.arg', [], {}, { jid: JID })),
      ).rejects.toThrow('--jid')
    expect(asked).toEqual([])
  })

  test('with an invalid answer is an error', async () => {
    for (const reply of [{}, { jid: JID }, { jid: 5, tag: 'x' }, { jid: JID, tag: null }]) {
      answer = () => reply
      await expect(asking('runner', (client) => client.start('test.arg', [], {}))).rejects.toThrow(
        'an invalid answer',
      )
    }
  })

  test('leaves a shared link open', async () => {
    begins([`salt/run/${JID}/ret`, { return: 'done', success: true }])
    const link = await linkLocal(config)
    const client = new RemoteFunctionClient('runner', config, alice, link)
    for (let time = 0; time < 2; time++) {
      expect(await client.run('test.arg', [], {})).toMatchObject({ return: 'done' })
      await client.close()
    }
    await link.close()
  })

  test('is not started if its events cannot be received', async () => {
    await bus.close()
    await publisher.close()
    await expect(asking('runner', (client) => client.run('test.arg', [], {}))).rejects.toMatchObject({
      code: 'MASTER_UNREACHABLE',
    })
    expect(asked).toEqual([])
    publisher = await openPublisher()
  })

  test('is not started if the user may not read events, unless it is not awaited', async () => {
    begins()
    const refused = new SaltError('PERMISSIONS', 'No right to use the event socket.')
    const connect = vi.spyOn(EventBus, 'connect').mockRejectedValue(refused)
    try {
      await expect(asking('runner', (client) => client.run('test.arg', [], {}))).rejects.toMatchObject({
        code: 'PERMISSIONS',
        message: expect.stringContaining('--async starts the runner'),
      })
      expect(asked).toEqual([])
      expect((await asking('runner', (client) => client.start('test.arg', [], {}))).jid).toBe(JID)
    } finally {
      connect.mockRestore()
    }
  })
})

describe('a wheel function', () => {
  const gives = (data: Load) => {
    answer = () => ({ tag: `salt/wheel/${JID}`, data: { jid: JID, fun: 'wheel.x', ...data } })
  }

  test('returns its result', async () => {
    gives({ return: ['a'], success: true })
    const ran = await asking('wheel', (client) => client.run('minions.connected', [1], { a: 2 }))
    expect(ran).toEqual({ jid: JID, return: ['a'], success: true, retcode: 0 })
    const load = { cmd: 'wheel', fun: 'minions.connected', arg: [1], kwarg: { a: 2 } }
    expect(asked).toEqual([{ ...load, ...alice }])
  })

  test('is refused in the background, or with a given job id', async () => {
    await expect(asking('wheel', (client) => client.start('key.list_all', [], {}))).rejects.toThrow('--async')
    const jid = { jid: JID }
    await expect(asking('wheel', (client) => client.run('key.list_all', [], {}, jid))).rejects.toThrow(
      '--jid',
    )
    expect(asked).toEqual([])
  })

  test.each(['EauthAuthenticationError', 'TokenAuthenticationError', 'AuthorizationError'])(
    '%s is an error that says what may be wrong',
    async (name) => {
      answer = () => ({ error: { name, message: 'Authentication failure of type "eauth" occurred.' } })
      await expect(asking('wheel', (client) => client.run('key.accept', ['*'], {}))).rejects.toMatchObject({
        code: 'AUTHENTICATION_FAILED',
        message: expect.stringMatching(/key\.accept: .* password of alice is wrong, .* '@wheel'\.$/),
      })
    },
  )

  test.each<[Load, string]>([
    [{ denied: true }, 'AUTHORIZATION_FAILED'],
    [{ denied: 'no' }, 'MASTER_UNREACHABLE'],
    [{}, 'MASTER_UNREACHABLE'],
  ])('whose refusal has a reason of a salt-ts master, and %j, is %s', async (more, code) => {
    const error = { name: 'EauthAuthenticationError', message: 'Authentication failure.' }
    answer = () => ({ error, reason: 'Because.', ...more })
    await expect(asking('wheel', (client) => client.run('key.accept', ['*'], {}))).rejects.toMatchObject({
      code,
      message: 'The master refused to run the wheel function key.accept. Because.',
    })
  })

  test('passes on other errors of the master, and reports an invalid answer', async () => {
    answer = () => ({ error: { name: 'SaltInvocationError', message: 'No function was named.' } })
    const run = () => asking('wheel', (client) => client.run('', [], {}))
    await expect(run()).rejects.toMatchObject({ code: 'INVOCATION', message: 'No function was named.' })
    for (const reply of ['', null, [], { tag: 'x' }]) {
      answer = () => reply
      await expect(run()).rejects.toThrow('an invalid answer')
    }
  })

  test('keys are shown and changed by the functions of the master', async () => {
    const desk = remoteKeyOperations(config, { token: 'abc' })
    const lists = { minions: ['a'], minions_pre: ['b'], local: ['master.pem'] }
    gives({ return: lists, success: true })
    expect(await desk.list('all')).toEqual({ minions: ['a'], minions_pre: ['b'] })
    expect(await desk.finger('*')).toEqual(lists)
    gives({ return: {}, success: true })
    expect(await desk.list('odd')).toBeUndefined()
    gives({ return: { minions: ['b'], minions_pre: ['c'] }, success: true })
    const keys = { minions_pre: ['b', 'c'] }
    expect(await desk.change('accept', keys, ['pending', 'denied'])).toEqual([
      { id: 'b' },
      { id: 'c', refused: 'The master did not accept the key of c; its log may say why.' },
    ])
    expect(asked.at(-1)).toEqual({
      cmd: 'wheel',
      fun: 'key.accept_dict',
      arg: [keys],
      kwarg: { include_rejected: false, include_denied: true },
      token: 'abc',
    })
    expect(await desk.change('delete', { minions: ['a', 'b'] }, [])).toEqual([
      { id: 'a' },
      { id: 'b', refused: expect.any(String) },
    ])
    gives({ return: { minions_rejected: ['b'] }, success: true })
    expect(await desk.change('reject', { minions_pre: ['b'] }, ['pending'])).toEqual([{ id: 'b' }])
    expect(asked.at(-1)).toMatchObject({ kwarg: { include_accepted: false, include_denied: false } })
    gives({ return: lists, success: false })
    await expect(desk.match('*')).rejects.toThrow('The master did not run key.name_match')
    gives({ return: 'Not you.', success: false })
    await expect(desk.match('*')).rejects.toThrow('The master did not run key.name_match: Not you.')
    await desk.close()
  })
})
