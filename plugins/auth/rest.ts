/** Checks credentials by an HTTP request. The response may also list permissions. */
import { type AuthFacts, auth } from 'salt-ts'
import { nameAndPassword } from './_credentials.ts'
import { beforeDeadline } from './_deadline.ts'
import { askOverHttp, type HttpAnswer, isOpen, readUrl } from './_http.ts'
import { problemsOf, readSettings } from './_settings.ts'

const settingsOf = (settings: AuthFacts['settings']) =>
  readSettings('external_auth.rest.^', settings, (read) => {
    read.needed('url')
    return {
      url: readUrl(read, 'url') ?? new URL('http://localhost'),
      authorities: read.text('ca_file'),
      seconds: read.seconds('timeout', 10),
    }
  })

/** Return the permissions in the form that `external_auth` has, from JSON; an empty body or null grants nothing beyond the log-in. */
function permissionsIn({ status, text }: HttpAnswer): readonly unknown[] | undefined {
  if (status === 401 || status === 403) return undefined
  if (status >= 300 && status < 400)
    throw new Error(`it answered ${status}: redirects are not followed; ^url must be the final address`)
  if (status !== 200) throw new Error(`it answered ${status}`)
  const said = text.trim() === '' ? null : parsed(text)
  if (said === null) return []
  if (!Array.isArray(said)) throw new Error('its answer is not a list of permissions')
  return said
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('its answer is not JSON')
  }
}

export default auth({
  async authenticate(credentials, { settings, signal }) {
    const said = nameAndPassword(credentials)
    if ('refused' in said) return said
    const { url, authorities, seconds } = settingsOf(settings)
    const { username, password } = said
    const permissions = await beforeDeadline({ place: url.host, seconds, signal }, async (inTime) =>
      permissionsIn(
        await askOverHttp({
          method: 'POST',
          url,
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: `${new URLSearchParams({ username, password })}`,
          authorities,
          signal: inTime,
        }),
      ),
    )
    if (!permissions) return { refused: `${url.host} refuses the username or the password` }
    return { name: username, ...(permissions.length > 0 && { permissions }) }
  },
  check: async ({ settings, log }) =>
    problemsOf(() => {
      const { url } = settingsOf(settings)
      if (isOpen(url))
        log.warn(
          `external_auth.rest.^url begins with http://: anybody on the network path to ${url.host} can read passwords.`,
        )
    }),
})
