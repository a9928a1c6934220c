import { createHash } from 'node:crypto'
import { jsonText } from '../../base/json.ts'

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

/** Something somebody did, or was refused. Arguments come masked: nothing secret may be in it. */
export interface AuditEntry {
  readonly act: AuditAct
  readonly verdict: 'allowed' | 'refused'
  /** Who acts. With `claimed` that is what they say, and no more. */
  readonly user: string
  readonly claimed?: true
  /** How it is known who it is: `key`, `token`, `eauth`, `minion`; or the program of this host: `host`, `salt-key`, … */
  readonly by?: string
  /** The backend of `external_auth`. */
  readonly eauth?: string | undefined
  /** Where it came from, where that is known: an address, the id of a minion. */
  readonly from?: string
  /** The server that has passed it on, if that proved who it is, and for whom, as it says. */
  readonly via?: { readonly api?: string; readonly claimed_address?: string } | undefined
  readonly fun?: string | readonly string[]
  readonly args?: readonly unknown[]
  readonly tgt?: unknown
  readonly tgt_type?: string
  readonly jid?: string
  /** Where the rule that made the verdict stands. */
  readonly rule?: string | undefined
  /** Why it is refused, as a sentence. */
  readonly reason?: string
  readonly [detail: string]: unknown
}

/** What the log says of itself. */
export type AuditNote = { readonly act: 'log'; readonly reason: string } & Readonly<Record<string, unknown>>

/** A line that was read. */
export interface AuditLine {
  readonly seq: number
  readonly prev: string
  readonly hash: string
  /** Its hash is that of its text. */
  readonly whole: boolean
  readonly members: Readonly<Record<string, unknown>>
}

/** Of the first line there ever was. */
export const NO_HASH = '0'.repeat(64)

/** No member takes more of a line; of more there are size and hash. */
const MOST_BYTES = 16_384

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** `time` in UTC, ISO 8601. The hash is that of the line without its last member. */
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
  return bytes <= MOST_BYTES ? value : { left_out: bytes, sha256: sha256(json) }
}

const text = (value: unknown): string =>
  jsonText(value, {
    other: (bytes) => (bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : String(bytes)),
  })

const LINE = /^(.*), "hash": "([0-9a-f]{64})"\}$/s

/** Undefined for what is no line of an audit log. Without the line break. */
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
