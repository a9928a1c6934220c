import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'

/** Names and addresses of a host. */
export interface HostFacts {
  readonly hostname: string
  /** Full name of the host; called only if the host name is not a full name. */
  fqdn(): string | undefined
  addresses(): readonly string[]
}

export interface DiscoveredId {
  readonly id: string
  /** Whether the id is an address, as no name was usable. A domain must not be appended then. */
  readonly isAddress: boolean
}

/** Return the first usable of: full host name, host name, non-loopback address. Never a name of localhost. */
export function discoverMinionId(facts: HostFacts = thisHost): DiscoveredId | undefined {
  const names = facts.hostname.includes('.') ? [facts.hostname] : [facts.fqdn(), facts.hostname]
  const name = names.find(isUsableName)
  if (name !== undefined) return { id: name, isAddress: false }
  const address = facts.addresses().find((candidate) => !isLoopback(candidate))
  return address === undefined ? undefined : { id: address, isAddress: true }
}

/** Whether a name is none of those that distributions give to loopback addresses. */
function isUsableName(name: string | undefined): name is string {
  return (
    name !== undefined &&
    name !== '' &&
    !/^(?:localhost|ip6-|ipv6-|127\.|0\.0\.0\.0|::1|fe00::|fe02::)/i.test(name)
  )
}

function isLoopback(address: string): boolean {
  return /^(?:127\.|0\.0\.0\.0$|::1$|fe80:)/i.test(address)
}

const thisHost: HostFacts = {
  hostname: hostname(),
  fqdn: () => fqdnFromHosts(hostname(), readHosts()) ?? fqdnFromResolver(),
  addresses: () =>
    Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).map(({ address }) => address),
    ),
}

/** Return the name with a dot on the line of the hosts file that lists `host`. */
export function fqdnFromHosts(host: string, hosts: string): string | undefined {
  const lines = hosts.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1))
  return lines.find((names) => names.includes(host))?.find((name) => name.includes('.') && isUsableName(name))
}

function readHosts(): string {
  try {
    return readFileSync('/etc/hosts', 'utf8')
  } catch {
    return ''
  }
}

/** Ask `hostname`, because Node's resolver is only asynchronous. This runs once per minion, as the id is cached. */
function fqdnFromResolver(): string | undefined {
  try {
    const answer = execFileSync('hostname', ['--fqdn'], {
      timeout: 5000,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const name = answer.toString().trim()
    return name.includes('.') ? name : undefined
  } catch {
    return undefined
  }
}
