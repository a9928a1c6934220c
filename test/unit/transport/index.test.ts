import { describe, expect, test } from 'vitest'
import { getNetworkTransport, getTransport } from '../../../core/transport/index.ts'

describe('the transport named in the configuration', () => {
  test.each(['zeromq', 'memory'])('%s is known', (name) => {
    expect(getTransport(name).name).toBe(name)
  })

  test.each(['tcp', '', 'constructor', '__proto__'])('%j is not, and the known ones are listed', (name) => {
    expect(() => getTransport(name)).toThrow(/one of: zeromq, memory/)
  })

  test('must reach other processes where those are the peers', () => {
    expect(getNetworkTransport('zeromq').name).toBe('zeromq')
    expect(() => getNetworkTransport('memory')).toThrow(
      /'memory' connects .* of one process only.*one of: zeromq\./,
    )
    expect(() => getNetworkTransport('tcp')).toThrow('one of: zeromq, memory')
  })
})
