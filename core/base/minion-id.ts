import { SaltError } from './errors.ts'

declare const brand: unique symbol

/** The checked id of a minion: safe as a file name, as a topic, in an event tag and in a log line. */
export type MinionId = string & { readonly [brand]: 'MinionId' }

/** Maximum length of an id in UTF-8: two bytes less than a file name may have, and the limit of a DNS name. */
const MAX_BYTES = 253

const rules: readonly (readonly [broken: (id: string) => boolean, reason: string])[] = [
  [(id) => id === '', 'it is empty'],
  [(id) => id === '.' || id === '..', 'it names a directory'],
  [(id) => /[/\\]/.test(id), 'it contains a slash or backslash'],
  [(id) => /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(id), 'it contains a control or invisible character'],
  [(id) => /[*?[\]]/.test(id), 'it contains a character of target patterns (* ? [ ])'],
  [(id) => id.trim() !== id, 'it begins or ends with white space'],
  [(id) => Buffer.byteLength(id) > MAX_BYTES, `it is longer than ${MAX_BYTES} bytes`],
]

/**
 * Check the id of a minion, more strictly than wire protocol §14.1: control and invisible characters, pattern
 * characters, white space at the ends and more than 253 bytes are refused, too. Inner spaces, leading dots and letters
 * of any script are valid, as in Salt.
 *
 * @throws SaltError ID_INVALID
 */
export function parseMinionId(value: unknown): MinionId {
  const reason = reasonAgainst(value)
  if (reason === undefined) return value as MinionId
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : `of type ${typeof value}`
  throw new SaltError('ID_INVALID', `The minion id ${shown} is not valid: ${reason}.`, { reason })
}

export function isMinionId(value: unknown): value is MinionId {
  return reasonAgainst(value) === undefined
}

function reasonAgainst(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'it is not text'
  if (value.length > MAX_BYTES) return `it is longer than ${MAX_BYTES} bytes`
  return rules.find(([broken]) => broken(value))?.[1]
}
