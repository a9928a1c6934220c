import { describe, expect, test } from 'vitest'
import { getNetworkTransport, getTransport, transportNames } from '../../../core/transport/index.ts'

describe('the transport named in the configuration', () => {
  test.each(transportNames)('%s is known', (name) => {
    expect(getTransport(name).name).toBe(name)
  })

  test.each(['raet', '', 'constructor', '__proto__'])('%j is not, and the known ones are listed', (name) => {
    expect(() => getTransport(name)).toThrow(/one of: zeromq, tcp, ws, memory/)
  })

  test('raet is refused with what became of it', () => {
    expect(() => getTransport('raet')).toThrow('Salt removed RAET')
  })

  test('must reach other processes where those are the peers', () => {
    expect(getNetworkTransport('zeromq').name).toBe('zeromq')
    expect(() => getNetworkTransport('memory')).toThrow(
      /'memory' connects .* of one process only.*one of: zeromq, tcp, ws, nats\./,
    )
    expect(() => getNetworkTransport('udp')).toThrow('one of: zeromq, tcp, ws, memory')
  })
})
