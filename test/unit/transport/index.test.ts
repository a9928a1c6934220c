import { describe, expect, it } from 'vitest'
import { getTransport } from '../../../core/transport/index.ts'

describe('the transport named in the configuration', () => {
  it.each(['zeromq', 'memory'])('%s is known', (name) => {
    expect(getTransport(name).name).toBe(name)
  })

  it.each(['tcp', '', 'constructor', '__proto__'])('%j is not, and the known ones are listed', (name) => {
    expect(() => getTransport(name)).toThrow(/one of: zeromq, memory/)
  })
})
