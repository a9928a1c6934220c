import { closeSync, constants, fdatasync, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { currentUser } from '../base/current-user.ts'
import { messageOf } from '../base/errors.ts'
import { fingerprint } from '../crypto/index.ts'
import type { KeyState } from './key-files.ts'
import type { KeyChange } from './key-store.ts'
import type { SignedBy } from './policy.ts'

const datasync = promisify(fdatasync)

/** The origin of a change of a key: a program, an option that decides instead of a person, or the minion itself. */
export type ChangedBy = SignedBy | 'salt-key' | 'wheel' | 'revoke_auth' | 'autoreject_file' | 'sign-in'

export interface Operator {
  readonly user: string
  /** The user who became `user` with sudo. */
  readonly sudo_user?: string
}

/** A line of the key audit log. `from` and `to` are missing where there was no key before or there is none afterwards. */
export interface KeyAuditEntry extends Partial<Operator> {
  readonly act: string
  /** Id of a minion or of an invitation. */
  readonly id: string
  readonly from?: KeyState
  readonly to?: KeyState
  readonly fingerprint?: string
  readonly by: ChangedBy
  readonly [detail: string]: unknown
}

/** Return the user who runs this program. Call it before the process changes its user. */
export function operator(): Operator {
  const sudo = process.env.SUDO_USER
  return { user: currentUser(), ...(sudo && { sudo_user: sudo }) }
}

/** Name the change of a key in Salt's words. */
export function actOf({ to }: Pick<KeyChange, 'to'>): 'accept' | 'pend' | 'reject' | 'denied' | 'delete' {
  switch (to) {
    case 'accepted':
      return 'accept'
    case 'pending':
      return 'pend'
    case 'rejected':
      return 'reject'
    case 'denied':
      return 'denied'
    default:
      return 'delete'
  }
}

export const auditEntry = (change: KeyChange, by: ChangedBy, hash: string): KeyAuditEntry => ({
  act: actOf(change),
  id: change.id,
  ...(change.from && { from: change.from }),
  ...(change.to && { to: change.to }),
  ...(change.pem !== '' && { fingerprint: fingerprint(change.pem, hash) }),
  by,
})

/** Copies entries to the general audit log. Never rejects. */
export type ForwardAudit = (entries: readonly KeyAuditEntry[], who: Operator) => Promise<void>

/**
 * The log of all key changes: JSON lines, mode 0600, appended whole and synced before the promise resolves. A failing
 * log never makes a change fail: it is reported to `complain`.
 */
export class KeyAudit {
  readonly #path: string
  readonly #who: Operator
  readonly #complain: (problem: string) => void
  readonly #passOn: ForwardAudit
  /** Lines that are written after those that are being written now; `written` settles when they are on disk. */
  #next: { readonly lines: string[]; readonly written: Promise<void> } | undefined
  /** Settles when the write that was begun last has ended, and never rejects. */
  #last: Promise<void> = Promise.resolve()

  /** `passOn` copies the entries to the general audit log. */
  constructor(path: string, who: Operator, complain: (problem: string) => void, passOn: ForwardAudit) {
    this.#path = path
    this.#who = who
    this.#complain = complain
    this.#passOn = passOn
  }

  async record(entries: readonly KeyAuditEntry[]): Promise<void> {
    if (entries.length === 0) return
    const passedOn = this.#passOn(entries, this.#who)
    const time = new Date().toISOString()
    const lines = entries.map((entry) => `${JSON.stringify({ time, ...this.#who, ...entry })}\n`)
    try {
      await this.#append(lines)
    } catch (error) {
      const what = entries.map(({ act, id }) => `${act} ${id}`).join(', ')
      this.#complain(
        `Done, but not written to the key audit log (key_audit_log): ${what}: ${messageOf(error)}`,
      )
    }
    await passedOn
  }

  /** Write lines. Those that arrive during a write are written together, so that a storm of sign-ins shares the syncs. */
  #append(lines: readonly string[]): Promise<void> {
    if (!this.#next) {
      const together: string[] = []
      const written = this.#last.then(() => {
        this.#next = undefined
        return append(this.#path, together.join(''))
      })
      this.#next = { lines: together, written }
      this.#last = written.catch(() => {})
    }
    this.#next.lines.push(...lines)
    return this.#next.written
  }
}

async function append(path: string, text: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`)
    if (writeSync(file, text) < Buffer.byteLength(text))
      throw new Error(`only a part of it could be written to ${path}`)
    await datasync(file)
  } finally {
    closeSync(file)
  }
}
