import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

/**
 * Make the check of certificates of servers given as URLs or `host:port`, for libraries of NATS. For a server given as an IP address they
 * pass `localhost` instead; the certificate must then match one of the servers.
 */
export function serverIdentityCheck(servers: readonly string[]) {
  const names = servers.map((server) => new URL(server.replace(/^(?!.*:\/\/)/, 'nats://')).hostname)
  const hosts = names.map((name) => name.replace(/^\[|\]$/g, ''))
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const wanted = name === 'localhost' ? hosts.filter((host) => host === name || isIP(host) > 0) : [name]
    const failures = wanted.map((host) => checkServerIdentity(host, certificate))
    return failures.includes(undefined) ? undefined : (failures[0] ?? checkServerIdentity(name, certificate))
  }
}
