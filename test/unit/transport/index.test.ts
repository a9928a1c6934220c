import { describe, expect, test } from 'vitest'
import { getNetworkTransport, getTransport, transportNames } from '../../../core/transport/index.ts'

describe('the transport named in the configuration', () => {
  test.each(transportNames)('%s is supported', (name) => {
    expect(getTransport(name).name).toBe(name)
  })

  test.each(['raet', '', 'constructor', '__proto__'])(
    '%j is unknown, and the known ones are listed',
    (name) => {
      expect(() => getTransport(name)).toThrow(/one of: zeromq, tcp, ws, memory/)
    },
  )

  test('raet is refused, and the message says that Salt removed it', () => {
    expect(() => getTransport('raet')).toThrow('Salt removed RAET')
  })

  test('must reach other processes if the peers are there', () => {
    expect(getNetworkTransport('zeromq').name).toBe('zeromq')
    expect(() => getNetworkTransport('memory')).toThrow(
      /'memory' connects .* of one process only.*one of: zeromq, tcp, ws, nats\./,
    )
    expect(() => getNetworkTransport('udp')).toThrow('one of: zeromq, tcp, ws, memory')
  })
})
