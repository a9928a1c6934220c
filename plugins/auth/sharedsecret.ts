/** A secret shared with a front end that authenticates users itself, such as a proxy with Kerberos. */
import { auth } from 'salt-ts'
import { wrongWithName, wrongWithPassword } from './_credentials.ts'
import { sameText } from './_same-text.ts'
import { problemsOf, readSettings } from './_settings.ts'

const secretOf = (opts: Readonly<Record<string, unknown>>): string =>
  readSettings('', opts, (read) => read.needed('sharedsecret'))

const FEW = 16

export default auth({
  credentials: ['sharedsecret'],
  async authenticate({ username, sharedsecret, password }, { opts }) {
    const given = sharedsecret ?? password
    const refused = wrongWithName(username) ?? wrongWithPassword(given)
    if (refused !== undefined) return { refused }
    if (!sameText(given as string, secretOf(opts))) return { refused: 'the secret is wrong' }
    return { name: username as string }
  },
  check: async ({ opts, log }) =>
    problemsOf(() => {
      if (secretOf(opts).length < FEW)
        log.warn(
          `sharedsecret has fewer than ${FEW} characters, which can be guessed. Make one: openssl rand -hex 32`,
        )
    }),
})
