import { MASK } from './secret.ts'

/** How names end whose values are secret wherever they stand. */
const WORD =
  '(?<![a-z])pass|password|passwd|passphrase|pwd|bindpw|token|secret|credentials?|(?:api|access|private|secret)[_-]?key'
const NAME = new RegExp(`(?:${WORD}|authorization)$`, 'i')

const VALUE = `(?:"[^"]{0,4096}"?|'[^']{0,4096}'?|[^\\s,;&"'}\\]]+)`
const FLAG = `--(?:\\w{1,20}-){0,3}(?:${WORD})`
/** `--password`, where its value is the next item of a list. */
const FLAG_ALONE = new RegExp(`^${FLAG}$`, 'i')
/** `password=x`, `password = x`, `"password": "x"`, `password: x`, `--password x`. No part can be tried in many ways: text may be long. */
const IN_TEXT = new RegExp(
  `((?:${WORD})(?:[ \\t]{0,3}=[ \\t]{0,3}|["']\\s{0,3}:\\s{0,3}|:\\s{1,3})|${FLAG}\\s{1,3})${VALUE}`,
  'gi',
)

/** `Authorization: Bearer x`. */
const HEADER =
  /(\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token)\s{1,3})?)[^\s,;&"'}\]]+/gi
/** `Bearer x` by itself: x is long, or has what words do not have. */
const BEARER = /(\bBearer\s{1,3})(?=[\w+/.~-]{24}|[A-Za-z+/.~_-]{0,256}[0-9])[\w+/.~=-]{8,}/g
/** `curl -u user:x` and `mysql -px`, where the option is one of that program. */
const OF_PROGRAM = [
  /(\bcurl\s(?:[^|;&\n]{0,100}?\s)?(?:-[a-zA-Z]{0,8}[uU]\s{0,3}|--(?:proxy-)?user[\s=]\s{0,3})["']?[^\s:"']{1,256}:)[^\s"']+/g,
  /(\b(?:mysql|mariadb)[\w-]{0,20}\s(?:[^|;&\n]{0,100}?\s)?-p)(?!\s)[^\s"']+/g,
]
/** `scheme://user:x@host`. */
const IN_URL = /(:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,1024}(?=@)/g

/** Also one whose end is missing. */
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,64}-----|$)/g

/** Values that are nested deeper are replaced by the mask. */
const DEEPEST = 20

/**
 * A value as it may be shown, by names alone, where no function has declared what is secret: values of keys like `password`
 * and `api_key`, and what follows such a word in a text. The same value if nothing in it is.
 */
export function maskSecretWords<T>(value: T, { mask_secret_words }: SecretWordOptions): T {
  return mask_secret_words === false ? value : (masked(value, DEEPEST) as T)
}

/** The options of a configuration that masking goes by. */
export interface SecretWordOptions {
  readonly mask_secret_words?: unknown
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value
  if (depth === 0) return MASK
  if (Array.isArray(value)) {
    const isValue = (index: number) => index > 0 && isFlag(value[index - 1]) && !isFlag(value[index])
    const shown = value.map((each, index) => (isValue(index) ? MASK : masked(each, depth - 1)))
    return shown.some((each, index) => each !== value[index]) ? shown : value
  }
  const entries = Object.entries(value)
  const shown = entries.map(
    ([name, own]) => [name, isSecret(name, own) ? MASK : masked(own, depth - 1)] as const,
  )
  return shown.some(([, each], index) => each !== entries[index]?.[1]) ? Object.fromEntries(shown) : value
}

/** The value of `auth` is a map or a list where it says how, and the secret itself where it is text. */
const isSecret = (name: string, value: unknown): boolean =>
  NAME.test(name) || (/^auth$/i.test(name) && typeof value === 'string')

const isFlag = (value: unknown): boolean => typeof value === 'string' && FLAG_ALONE.test(value)

function maskedText(text: string): string {
  if (text.length <= 3) return text
  return [IN_TEXT, HEADER, BEARER, ...OF_PROGRAM, IN_URL].reduce(
    (shown, secret) => shown.replace(secret, `$1${MASK}`),
    text.replace(PRIVATE_KEY, MASK),
  )
}
