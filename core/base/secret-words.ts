import { isRecord } from './record.ts'
import { MASK } from './secret.ts'

/** Endings of names whose values are secret. */
const WORD =
  '(?<![a-z])pass|password|passwd|passphrase|pwd|bindpw|token|secret|credentials?|(?:api|access|private|secret)[_-]?key'
const NAME = new RegExp(`(?:${WORD}|authorization)$`, 'i')

const VALUE = `(?:"[^"]{0,4096}"?|'[^']{0,4096}'?|[^\\s,;&"'}\\]]+)`
const FLAG = `--(?:\\w{1,20}-){0,3}(?:${WORD})`
/** `--password` as an item of a list; its value is the next item. */
const FLAG_ALONE = new RegExp(`^${FLAG}$`, 'i')
/**
 * `password=x`, `password = x`, `"password": "x"`, `password: x`, `--password x`. All repetitions are bounded, since
 * the text may be long.
 */
const IN_TEXT = new RegExp(
  `((?:${WORD})(?:[ \\t]{0,3}=[ \\t]{0,3}|["']\\s{0,3}:\\s{0,3}|:\\s{1,3})|${FLAG}\\s{1,3})${VALUE}`,
  'gi',
)

/** `Authorization: Bearer x`. */
const HEADER =
  /(\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token)\s{1,3})?)[^\s,;&"'}\]]+/gi
/** `Bearer x` without a header, where x is long or has a digit, unlike a word. */
const BEARER = /(\bBearer\s{1,3})(?=[\w+/.~-]{24}|[A-Za-z+/.~_-]{0,256}[0-9])[\w+/.~=-]{8,}/g
/** Options of particular programs: `curl -u user:x` and `mysql -px`. */
const OF_PROGRAM = [
  /(\bcurl\s(?:[^|;&\n]{0,100}?\s)?(?:-[a-zA-Z]{0,8}[uU]\s{0,3}|--(?:proxy-)?user[\s=]\s{0,3})["']?[^\s:"']{1,256}:)[^\s"']+/g,
  /(\b(?:mysql|mariadb)[\w-]{0,20}\s(?:[^|;&\n]{0,100}?\s)?-p)(?!\s)[^\s"']+/g,
]
/** `scheme://user:x@host`. */
const IN_URL = /(:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,1024}(?=@)/g

/** A private key in PEM; its end may be missing. */
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,64}-----|$)/g

/** Levels of nesting; deeper values are replaced by the mask. */
const MAX_DEPTH = 20

/**
 * Mask secrets in a value by names alone, where no function declares which arguments are secret: values of keys such as
 * `password` and `api_key`, and the text after such a word. Returns the same value if it has no secrets.
 */
export function maskSecretWords<T>(value: T, { mask_secret_words }: SecretWordOptions): T {
  return mask_secret_words === false ? value : (masked(value, MAX_DEPTH) as T)
}

/** The configuration options that masking reads. */
export interface SecretWordOptions {
  readonly mask_secret_words?: unknown
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskedText(value)
  if (!Array.isArray(value) && !isRecord(value)) return value
  if (depth === 0) return MASK
  if (Array.isArray(value)) {
    const isValue = (index: number) => index > 0 && isFlag(value[index - 1]) && !isFlag(value[index])
    const shown = value.map((each, index) => (isValue(index) ? MASK : masked(each, depth - 1)))
    return shown.some((each, index) => each !== value[index]) ? shown : value
  }
  const entries = Object.entries(value)
  const shown = entries.map(
    ([name, member]) => [name, isSecret(name, member) ? MASK : masked(member, depth - 1)] as const,
  )
  return shown.some(([, each], index) => each !== entries[index]?.[1]) ? Object.fromEntries(shown) : value
}

/** Whether a name is that of a secret: `password`, `api_key`. */
export const namesSecret = (name: string): boolean => NAME.test(name)

/** `auth` is secret only as text: as a map or a list it holds settings. */
const isSecret = (name: string, value: unknown): boolean =>
  namesSecret(name) || (/^auth$/i.test(name) && typeof value === 'string')

const isFlag = (value: unknown): boolean => typeof value === 'string' && FLAG_ALONE.test(value)

function maskedText(text: string): string {
  if (text.length <= 3) return text
  return [IN_TEXT, HEADER, BEARER, ...OF_PROGRAM, IN_URL].reduce(
    (shown, secret) => shown.replace(secret, `$1${MASK}`),
    text.replace(PRIVATE_KEY, MASK),
  )
}
