import { isSecretName, MASK } from '../base/secret.ts'
import { maskSecretWords } from '../base/secret-words.ts'

const MAX_DEPTH = 6
const MAX_ENTRIES = 100
const MAX_TEXT = 10_000

/** Stands for a value that throws when it is read, such as one with a getter that does. */
const UNREADABLE = '<cannot be read>'

/** Copy a value for a log record: bounded, without cycles, with the values of secret fields masked. Never throws. */
export function sanitize(value: unknown, depth = 0): unknown {
  try {
    return copyOf(value, depth)
  } catch {
    return UNREADABLE
  }
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function')
    return String(value)
  if (typeof value === 'string') return sanitizeText(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return `<${value.length} bytes>`
  if (depth >= MAX_DEPTH) return '…'
  if (value instanceof Error) return sanitizeError(value, depth)
  if ('toJSON' in value && typeof value.toJSON === 'function') return sanitize(value.toJSON(), depth + 1)
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, MAX_ENTRIES).map((item) => sanitize(item, depth + 1))
  }
  const entries = (value instanceof Map ? [...value] : Object.entries(value)).slice(0, MAX_ENTRIES)
  return Object.fromEntries(
    entries
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [String(name), field(name, inner, depth)]),
  )
}

function field(name: unknown, value: unknown, depth: number): unknown {
  if (isSecretName(String(name)) && value !== null) return MASK
  return sanitize(value, depth + 1)
}

function sanitizeError(error: Error, depth: number): object {
  const { message, stack } = error
  const facts = sanitize({ ...error }, depth + 1) as object
  return { ...facts, message: sanitizeText(message), stack: sanitizeText(stack ?? message) }
}

const secretInText =
  /\b((?:password|passwd|passphrase|token|tok|secret)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;})\]]+)/gi

const privateKey = /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/g

/** Truncate a text, and mask private keys and the values of `password=…`, `'token': '…'` and similar. */
export function sanitizeText(text: string): string {
  const bounded = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const plain = bounded.replace(privateKey, MASK).replace(secretInText, (_, name: string) => name + MASK)
  return maskSecretWords(plain, {})
}

const named = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** Escape line breaks and terminal control characters, so that a peer cannot forge log lines. */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.charCodeAt(0)
    return named.get(character) ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`)
  })
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}
