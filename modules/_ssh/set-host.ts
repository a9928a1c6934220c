import type { Context } from 'salt-ts'
import {
  DEFAULT_PORT,
  entriesOf,
  type HostEntry,
  type HostProblem,
  hashNames,
  hostName,
  hostsFile,
  isProblem,
  oneWord,
  problem,
  replaceEntries,
  scanHost,
} from './known-hosts.ts'

export interface Wanted {
  readonly user: string | undefined
  readonly hostname: string
  readonly fingerprint: string | undefined
  readonly key: string | undefined
  readonly port: number | undefined
  readonly enc: string | undefined
  readonly config: string | undefined
  readonly hash_known_hosts: boolean
  readonly timeout: number
  readonly fingerprint_hash_type: string | undefined
}

export type SetOutcome =
  | HostProblem
  | { readonly status: 'exists'; readonly keys: readonly string[] }
  | {
      readonly status: 'updated'
      readonly old: readonly HostEntry[] | null
      readonly new: readonly HostEntry[]
    }

/** Store the keys of a host: the given one, or those that the host shows, if their fingerprint is the given one. */
export async function setHost(wanted: Wanted, context: Context): Promise<SetOutcome> {
  const { hostname, port, enc, key, fingerprint, hash_known_hosts, fingerprint_hash_type } = wanted
  if (port !== undefined && port !== DEFAULT_PORT && hash_known_hosts)
    return problem('argument port can not be used in conjunction with argument hash_known_hosts')
  for (const name of ['hostname', 'key', 'enc'] as const) oneWord(name, wanted[name])
  const file = await hostsFile(wanted.user, wanted.config)
  if (isProblem(file)) return file
  const stored = await entriesOf(file, hostname, port, fingerprint_hash_type, context)
  const storedKeys = stored
    .filter((entry) => enc === undefined || entry.enc === enc)
    .map((entry) => entry.key)
  if (isStored(stored, storedKeys, wanted)) return { status: 'exists', keys: storedKeys }
  const fresh = await freshEntries(wanted, context)
  if (isProblem(fresh)) return fresh
  const isCheckOnly = stored.length > 0 && key === undefined && fingerprint === undefined
  if (
    isCheckOnly &&
    sameMembers(
      fresh.map((entry) => entry.key),
      storedKeys,
    )
  )
    return { status: 'exists', keys: storedKeys }
  const added = fresh.map((entry) => withPort(entry, wanted))
  const lines = added.map((entry) => ({ ...entry, hostname: hostName(entry.hostname, entry.port) }))
  await replaceEntries(file, hostname, port, enc, lines, context)
  if (key !== undefined && hash_known_hosts) await hashNames(file)
  return { status: 'updated', old: stored.length > 0 ? stored : null, new: added }
}

function isStored(
  stored: readonly HostEntry[],
  storedKeys: readonly string[],
  { key, fingerprint }: Wanted,
): boolean {
  if (stored.length === 0 || (key === undefined && fingerprint === undefined)) return false
  if (fingerprint !== undefined && !stored.some((entry) => entry.fingerprint === fingerprint)) return false
  return key === undefined || storedKeys.includes(key)
}

async function freshEntries(wanted: Wanted, context: Context): Promise<HostEntry[] | HostProblem> {
  const { hostname, key, enc, port, timeout, hash_known_hosts: isHashed, fingerprint } = wanted
  if (key !== undefined) return [{ hostname, enc: enc ?? 'ssh-rsa', key }]
  const hash = wanted.fingerprint_hash_type
  const found = await scanHost(hostname, { enc, port, isHashed, timeout }, hash, context)
  if (found.length === 0) return problem('Unable to receive remote host keys')
  if (fingerprint === undefined || found.some((entry) => entry.fingerprint === fingerprint)) return found
  return problem(
    'Remote host public keys found but none of their fingerprints match the one you have provided',
  )
}

/** Add the port to an entry whose host has another than 22. Names that ssh-keyscan has found include it. */
const withPort = (entry: HostEntry, { port, hash_known_hosts }: Wanted): HostEntry =>
  hash_known_hosts || port === undefined || port === DEFAULT_PORT || entry.hostname.includes(':')
    ? entry
    : { ...entry, port }

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  new Set([...a, ...b]).size === new Set(a).size && new Set(a).size === new Set(b).size
