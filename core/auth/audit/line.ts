import { createHash } from 'node:crypto'
import { jsonText } from '../../dialect/json.ts'

type AuditAct =
  | 'login'
  | 'logout'
  | 'publish'
  | 'batch'
  | 'plan'
  | 'runner'
  | 'wheel'
  | 'key'
  | 'peer'
  | 'peer_run'
  | 'request'
  | 'log'

/** An action that was done or refused. Arguments are masked already: an entry must have no secrets. */
export interface AuditEntry {
  readonly act: AuditAct
  readonly verdict: 'allowed' | 'refused'
  /** The user who acts. With `claimed`, the name is unverified. */
  readonly user: string
  readonly claimed?: true
  /** The means by which the user was identified: `key`, `token`, `eauth`, `minion`; or the program on this host: `host`, `salt-key`, … */
  readonly by?: string
  /** The backend of `external_auth`. */
  readonly eauth?: string | undefined
  /** Origin, if known: an address, the id of a minion. */
  readonly from?: string
  /** The server that passed on the request, if it proved its identity, and the client's address that it reports. */
  readonly via?: { readonly api?: string; readonly claimed_address?: string } | undefined
  readonly fun?: string | readonly string[]
  readonly args?: readonly unknown[]
  readonly tgt?: unknown
  readonly tgt_type?: string
  readonly jid?: string
  /** Place in the configuration of the rule that decided. */
  readonly rule?: string | undefined
  /** Reason of a refusal, as a sentence. */
  readonly reason?: string
  readonly [detail: string]: unknown
}

/** A note of the log about itself. */
export type AuditNote = { readonly act: 'log'; readonly reason: string } & Readonly<Record<string, unknown>>

/** A parsed line. */
export interface AuditLine {
  readonly seq: number
  readonly prev: string
  readonly hash: string
  /** Whether its hash matches its text. */
  readonly whole: boolean
  readonly members: Readonly<Record<string, unknown>>
}

/** The previous hash of the very first line. */
export const NO_HASH = '0'.repeat(64)

/** Longest value of a member in a line; longer ones are replaced by their size and hash. */
const MAX_MEMBER_BYTES = 16_384

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Make a line. `time` is UTC, ISO 8601. The hash is that of the line without its last member. */
export function makeLine(
  seq: number,
  prev: string,
  time: string,
  entry: AuditEntry | AuditNote,
): { text: string; hash: string } {
  const members = Object.entries({ seq, time, ...entry, prev }).filter(([, value]) => value !== undefined)
  const body = text(Object.fromEntries(members.map(([name, value]) => [name, fitting(value)])))
  const hash = sha256(body)
  return { text: `${body.slice(0, -1)}, "hash": "${hash}"}\n`, hash }
}

function fitting(value: unknown): unknown {
  const json = text(value)
  const bytes = Buffer.byteLength(json)
  return bytes <= MAX_MEMBER_BYTES ? value : { left_out: bytes, sha256: sha256(json) }
}

const text = (value: unknown): string =>
  jsonText(value, {
    other: (bytes) => (bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : String(bytes)),
  })

const LINE = /^(.*), "hash": "([0-9a-f]{64})"\}$/s

/** Parse a line without its line break. Undefined if it is not a line of an audit log. */
export function readLine(line: string): AuditLine | undefined {
  const [, start, hash] = LINE.exec(line) ?? []
  if (start === undefined || hash === undefined) return undefined
  try {
    const members = JSON.parse(`${start}}`) as Record<string, unknown>
    const { seq, prev } = members
    if (typeof seq !== 'number' || typeof prev !== 'string') return undefined
    return { seq, prev, hash, whole: sha256(`${start}}`) === hash, members: { ...members, hash } }
  } catch {
    return undefined
  }
}
