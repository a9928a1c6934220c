import { inspect } from 'node:util'

/** What is shown in place of a secret, everywhere. */
export const MASK = '**********'

/** Text that must not be shown: printing, JSON and `util.inspect` give the mask; only `reveal()` gives the text. */
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

/** What only tells about a secret: `has_key`, `gen_token` of a module. */
const about = /(?:^|[.:])(?:has|is|needs|list|mk|gen|del|delete|remove)[_-][^.:]*$/i

/** True for the name of a field whose value must not be shown: `password`, `key_pass`, `apiToken`, `key`, … */
export function isSecretName(name: string): boolean {
  return (secretNames.test(name) || camelCaseSecretNames.test(name)) && !about.test(name)
}
