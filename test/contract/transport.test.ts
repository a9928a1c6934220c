import { describe } from 'vitest'
import { getTransport, transportNames } from '../../core/transport/index.ts'
import { transportContract } from './transport.ts'

describe.each(transportNames)('the transport %s', (name) => {
  transportContract(getTransport(name))
})
