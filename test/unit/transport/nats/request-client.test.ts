import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { expect, test, vi } from 'vitest'
import { ConnectionState } from '../../../../core/transport/connection-state.ts'
import type { Lease } from '../../../../core/transport/nats/connection.ts'
import { connectRequests } from '../../../../core/transport/nats/request-client.ts'
import { Roster } from '../../../../core/transport/nats/roster.ts'

test('requests over an open connection leave nothing at the promise of its failure, which stays pending', async () => {
  const state = new ConnectionState()
  state.set('up')
  const failure = new Promise<string>(() => {})
  const wait = vi.spyOn(failure, 'then')
  const connection: Partial<NatsConnection> = {
    request: async () => ({ data: Buffer.from('answer') }) as unknown as Msg,
  }
  const lease: Lease = {
    ready: Promise.resolve(connection as NatsConnection),
    state,
    roster: new Roster(),
    problem: undefined,
    failure,
    awaitFirst: async () => connection as NatsConnection,
    release: async () => {},
  }
  const settings = { host: '', port: 4506, failFast: true }
  const client = connectRequests({ servers: ['nats'], prefix: 'salt' }, lease, settings)
  expect(String(await client.request(Buffer.from('question'), 5_000))).toBe('answer')
  expect(wait).not.toHaveBeenCalled()
  await client.close()
})
