import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'

/** What this host says about itself. */
export interface HostFacts {
  readonly hostname: string
  /** Full name of the host; asked for only if the host name is not one. */
  fqdn(): string | undefined
  addresses(): readonly string[]
}

export interface DiscoveredId {
  readonly id: string
  /** No name was usable; a domain must not be appended. */
  readonly isAddress: boolean
}

/** The first usable of the full host name, the host name, an address that is not loopback. Never a name of localhost. */
export function discoverMinionId(facts: HostFacts = thisHost): DiscoveredId | undefined {
  const names = facts.hostname.includes('.') ? [facts.hostname] : [facts.fqdn(), facts.hostname]
  const name = names.find(isUsableName)
  if (name !== undefined) return { id: name, isAddress: false }
  const address = facts.addresses().find((candidate) => !isLoopback(candidate))
  return address === undefined ? undefined : { id: address, isAddress: true }
}

/** Names distributions give to the loopback addresses. */
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

/** The name with a dot on the line of the hosts file that has `host`. */
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

/** Node can only ask the resolver asynchronously; this runs once in the life of a minion, then the id is cached. */
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
