/** One of the minion's addresses is this address, or lies in this network: `10.0.0.0/8`, `2001:db8::/32`. */
import { matcher } from 'salt-ts'
import { parseAddress, parseNetwork } from './_addresses.ts'

export default matcher({
  match(expression, { grains }) {
    const network = typeof expression === 'string' ? parseNetwork(expression) : undefined
    if (!network) return false
    if (grains === undefined) return 'unknown'
    const own = grains[network.version === 4 ? 'ipv4' : 'ipv6']
    return (Array.isArray(own) ? own : []).some((text) => {
      const address = typeof text === 'string' ? parseAddress(text) : undefined
      return address?.version === network.version && address.bits >> network.hostBits === network.prefix
    })
  },
})
