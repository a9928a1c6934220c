import { isSecretName, MASK } from '../base/secret.ts'
import { maskSecretWords } from '../base/secret-words.ts'

const MAX_DEPTH = 6
const MAX_ENTRIES = 100
const MAX_TEXT = 10_000

/** A copy of what is logged that JSON can hold: bounded, without cycles, values of secret fields masked. */
export function presentable(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function')
    return String(value)
  if (typeof value === 'string') return presentableText(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return `<${value.length} bytes>`
  if (depth >= MAX_DEPTH) return '…'
  if (value instanceof Error) return presentableError(value, depth)
  if ('toJSON' in value && typeof value.toJSON === 'function') return presentable(value.toJSON(), depth + 1)
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, MAX_ENTRIES).map((item) => presentable(item, depth + 1))
  }
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return Object.fromEntries(
    entries.slice(0, MAX_ENTRIES).map(([name, inner]) => [String(name), field(name, inner, depth)]),
  )
}

function field(name: unknown, value: unknown, depth: number): unknown {
  if (isSecretName(String(name)) && value !== undefined && value !== null) return MASK
  return presentable(value, depth + 1)
}

function presentableError(error: Error, depth: number): object {
  const { message, stack } = error
  const facts = presentable({ ...error }, depth + 1) as object
  return { ...facts, message: presentableText(message), stack: presentableText(stack ?? message) }
}

const secretInText =
  /\b((?:password|passwd|passphrase|token|tok|secret)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;})\]]+)/gi

const privateKey = /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/g

/** Bounded text, with the values of `password=…`, `'token': '…'` and the like masked, and private keys. */
export function presentableText(text: string): string {
  const bounded = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const plain = bounded.replace(privateKey, MASK).replace(secretInText, (_, name: string) => name + MASK)
  return maskSecretWords(plain, {})
}

const named = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** Text that stays on its line and cannot steer a terminal, so that no peer can write log lines of its own. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.charCodeAt(0)
    return named.get(character) ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`)
  })
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}
