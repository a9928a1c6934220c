/** A connection to an LDAP server. It is never reopened: after STARTTLS, a new connection would be without TLS. */
import { readFile } from 'node:fs/promises'
import { connect, isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import type { Client, Entry } from 'ldapts'
import type { LdapSettings } from './_ldap-settings.ts'
import { library } from './_library.ts'

export type { Entry } from 'ldapts'

export interface LdapConnection {
  /** Resolves with false if the server refuses the password. */
  bind(dn: string, password: string): Promise<boolean>
  /** Search the base and the entries below it, as `scope` says. Referrals to other servers are left out. */
  search(
    base: string,
    filter: string,
    attributes: readonly string[],
    scope: LdapSettings['scope'],
  ): Promise<readonly Entry[]>
}

const MAX_ENTRIES = 1000
/** LDAP result codes for a wrong password, or an account that must not be used. */
const REFUSED = new Set([48, 49, 50, 53])

/** Run `work` with a connection that is closed afterwards, and at once when the signal is aborted. */
export async function withLdap<T>(
  settings: LdapSettings,
  signal: AbortSignal,
  work: (connection: LdapConnection) => Promise<T>,
): Promise<T> {
  const { Client } = await library('ldap', 'ldapts', () => import('ldapts'))
  const { url, startTls, verify, authorities } = settings
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const tls = {
    host,
    rejectUnauthorized: verify,
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities !== undefined && { ca: await readFile(authorities) }),
  }
  const sockets: Socket[] = []
  const once = <S extends Socket>(open: () => S): S => {
    if (sockets.length > 0 || signal.aborted) throw new Error('the connection to the server was lost')
    const socket = open()
    sockets.push(socket)
    return socket
  }
  const client = new Client({
    url: `${url.protocol}//${url.host}`,
    ...(url.protocol === 'ldaps:' && { tlsOptions: tls }),
    createConnection: ((port: number, to: string) => once(() => connect(port, to))) as typeof connect,
    createSecureConnection: ((...given: unknown[]) =>
      // With STARTTLS over the existing connection, else over a new one.
      startTls
        ? tlsConnect(given[0] as object)
        : once(() => tlsConnect(...(given as [number, string, object])))) as typeof tlsConnect,
    strictDN: false,
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  signal.addEventListener('abort', cut, { once: true })
  try {
    if (startTls) await client.startTLS(tls)
    return await work(connectionOf(client))
  } finally {
    signal.removeEventListener('abort', cut)
    cut()
  }
}

const connectionOf = (client: Client): LdapConnection => ({
  async bind(dn, password) {
    if (dn === '' || password === '') return false // a server would take it for an anonymous bind
    try {
      await client.bind(dn, password)
      return true
    } catch (error) {
      if (REFUSED.has(Number((error as { readonly code?: unknown }).code))) return false
      throw error
    }
  },
  async search(base, filter, attributes, scope) {
    const options = { filter, attributes: [...attributes], scope, sizeLimit: MAX_ENTRIES }
    return (await client.search(base, options)).searchEntries
  },
})

/** Return the values of an attribute as text, whether it has none, one or many. */
export function valuesOf(entry: Entry, attribute: string): readonly string[] {
  const name = Object.keys(entry).find((key) => key.toLowerCase() === attribute.toLowerCase())
  const value = name === undefined ? [] : entry[name]
  return (Array.isArray(value) ? value : [value ?? []]).flat().map((one) => `${one}`)
}
