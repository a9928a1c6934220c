import { inspect } from 'node:util'

/** The text shown in place of any secret. */
export const MASK = '**********'

/** Text that must not be shown: printing, JSON and `util.inspect` give the mask; only `reveal()` returns the text. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return MASK
  }

  toJSON(): string {
    return MASK
  }

  [inspect.custom](): string {
    return MASK
  }
}

const secretNames =
  /^(?:.*[._-])?(?:password|passwd|passphrase|pass|bindpw|token|tok|secret|sharedsecret|credentials?|eauth|key|aes|session)$/i
const camelCaseSecretNames = /[a-z](?:Password|Passphrase|Token|Secret|Credentials?|Key)$/

/** Names that mention a secret but do not hold one: `has_key`, `gen_token`. */
const about = /(?:^|[.:])(?:has|is|needs|list|mk|gen|del|delete|remove)[_-][^.:]*$/i

/** Whether the name is that of a field whose value must not be shown: `password`, `key_pass`, `apiToken`, `key`, … */
export function isSecretName(name: string): boolean {
  return (secretNames.test(name) || camelCaseSecretNames.test(name)) && !about.test(name)
}
