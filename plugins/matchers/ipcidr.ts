/** Selects minions that have this address, or an address in this network: `10.0.0.0/8`, `2001:db8::/32`. */

import { matcher, SaltInvocationError } from 'salt-ts'
import { isInNetwork, parseAddress, parseNetwork } from '#internal'

export default matcher({
  prepare(expression) {
    if (typeof expression !== 'string') throw new SaltInvocationError('The address or network must be text.')
    const network = parseNetwork(expression)
    const grain = network.version === 4 ? 'ipv4' : 'ipv6'
    return ({ grains }) => {
      if (grains === undefined) return 'unknown'
      return [grains[grain]].flat().some((text) => {
        const address = typeof text === 'string' ? parseAddress(text) : undefined
        return address !== undefined && isInNetwork(address, network)
      })
    }
  },
})
