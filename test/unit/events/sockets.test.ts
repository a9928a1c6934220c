import { describe, expect, test } from 'vitest'
import { masterEventSockets, minionEventSockets } from '../../../core/events/index.ts'
import { vectors } from '../../harness/vectors.ts'

const suffixes: Record<string, string> = vectors('keys').minion_event_socket_suffix_sha256_10

const options = {
  sock_dir: '/run/salt',
  ipc_mode: 'ipc',
  hash_type: 'sha256',
  tcp_pub_port: 4510,
  tcp_pull_port: 4511,
  tcp_master_pub_port: 4512,
  tcp_master_pull_port: 4513,
  max_event_size: 2000,
}

describe('the event sockets', () => {
  test('of a master have fixed names in sock_dir', () => {
    expect(masterEventSockets(options)).toEqual({
      name: 'MasterEvent',
      pubPath: '/run/salt/master_event_pub.ipc',
      pullPath: '/run/salt/master_event_pull.ipc',
      maxEventSize: 2000,
    })
  })

  test('of a minion have the beginning of the hash of its id in their names', () => {
    const { pubPath, pullPath } = minionEventSockets(options, 'wire1')
    expect(pubPath).toMatch(/^\/run\/salt\/minion_event_[0-9a-f]{10}_pub\.ipc$/)
    expect(pullPath).toBe(pubPath.replace('_pub.', '_pull.'))
    expect(minionEventSockets(options, 'wire2').pubPath).not.toBe(pubPath)
  })

  test('of a minion are the same as those of a Python minion with that id', () => {
    for (const [id, suffix] of Object.entries(suffixes)) {
      expect(minionEventSockets(options, id).pubPath).toBe(`/run/salt/minion_event_${suffix}_pub.ipc`)
    }
  })

  test('are loopback ports with ipc_mode tcp', () => {
    const tcp = { ...options, ipc_mode: 'tcp' }
    expect(masterEventSockets(tcp)).toEqual({
      name: 'MasterEvent',
      pubPath: 'tcp://127.0.0.1:4512',
      pullPath: 'tcp://127.0.0.1:4513',
      maxEventSize: 2000,
    })
    expect(minionEventSockets(tcp, 'wire1').pubPath).toBe('tcp://127.0.0.1:4510')
  })
})
