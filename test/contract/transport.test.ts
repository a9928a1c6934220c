import { describe } from 'vitest'
import { getTransport } from '../../core/transport/index.ts'
import { transportContract } from './transport.ts'

describe.each(['memory', 'zeromq'])('the transport %s', (name) => {
  transportContract(getTransport(name))
})
