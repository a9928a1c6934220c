/** Users of an LDAP directory: OpenLDAP, Active Directory, FreeIPA. */
import { type Authenticated, auth } from 'salt-ts'
import { type NameAndPassword, nameAndPassword, type Refused } from './_credentials.ts'
import { beforeDeadline } from './_deadline.ts'
import { isOpen } from './_http.ts'
import { type Entry, type LdapConnection, valuesOf, withLdap } from './_ldap-connection.ts'
import { groupsOf } from './_ldap-groups.ts'
import { type LdapSettings, ldapSettings, looksForUsers } from './_ldap-settings.ts'
import { bindNameFor, comparedWith, filterFor } from './_ldap-text.ts'
import { missingLibrary } from './_library.ts'
import { problemsOf } from './_settings.ts'

const WRONG = { refused: 'the directory refuses this password' }

const logIn = (
  connection: LdapConnection,
  said: NameAndPassword,
  settings: LdapSettings,
): Promise<Authenticated | Refused> =>
  looksForUsers(settings)
    ? searchThenBind(connection, said, settings)
    : bindByTemplate(connection, said, settings)

/** Find the user with the search account, or anonymously, then bind as the user. */
async function searchThenBind(
  connection: LdapConnection,
  { username, password }: NameAndPassword,
  settings: LdapSettings,
) {
  const { bindDn = '', bindPassword = '', anonymous, baseDn, scope, filter = '' } = settings
  const account = () =>
    anonymous ? true : connection.bind(bindNameFor(bindDn, username) ?? '', bindPassword)
  if (!(await account())) throw new Error(`the server refuses auth.ldap.bindpw for ${bindDn}`)
  const found = await connection.search(baseDn, filterFor(filter, username), comparedWith(filter), scope)
  const [entry] = found
  if (!entry) return { refused: 'the directory has no such user' }
  if (found.length > 1) return { refused: 'auth.ldap.filter finds more than one user of that name' }
  if (!(await connection.bind(entry.dn, password))) return WRONG
  const name = nameIn(entry, filter, username)
  // Users may not be allowed to search for groups; the account is.
  if (!anonymous) await account()
  return { name, groups: await groupsOf(connection, { name, dn: entry.dn }, settings) }
}

async function bindByTemplate(
  connection: LdapConnection,
  { username, password }: NameAndPassword,
  settings: LdapSettings,
) {
  const template = settings.bindDn ?? ''
  const dn = bindNameFor(template, username)
  if (dn === undefined)
    return { refused: 'the username has characters that are not allowed in auth.ldap.binddn' }
  if (!(await connection.bind(dn, password))) return WRONG
  if (!dn.includes('='))
    return { name: username, groups: await groupsOf(connection, { name: username, dn: undefined }, settings) }
  const [entry] = await connection
    .search(dn, '(objectClass=*)', comparedWith(template), 'base')
    .catch(() => [])
  const name = entry ? nameIn(entry, template, username) : username
  return { name, groups: await groupsOf(connection, { name, dn }, settings) }
}

/**
 * Return the name as the directory spells it: `FRED` and `fred` are the same there and must not be two users to the rules.
 * Return it as given if the entry does not have it.
 */
function nameIn(entry: Entry, template: string, username: string): string {
  const all = comparedWith(template).flatMap((attribute) => valuesOf(entry, attribute))
  const same = all.find((one) => one.toLowerCase() === username.toLowerCase())
  return all.includes(username) ? username : (same ?? all[0] ?? username)
}

export default auth({
  async authenticate(credentials, { opts, settings: own, signal }) {
    const said = nameAndPassword(credentials)
    if ('refused' in said) return said
    const settings = ldapSettings(opts, own)
    const place = `LDAP at ${settings.url.host}`
    return beforeDeadline({ place, seconds: settings.seconds, signal }, (inTime) =>
      withLdap(settings, inTime, (connection) => logIn(connection, said, settings)),
    )
  },
  check: async ({ opts, settings: own, log }) => [
    ...missingLibrary('ldap', 'ldapts'),
    ...(await problemsOf(() => {
      const { url, startTls, verify } = ldapSettings(opts, own)
      const host = new URL(`http://${url.host}`)
      if (url.protocol === 'ldap:' && !startTls && isOpen(host))
        log.warn(
          `auth.ldap.tls and auth.ldap.starttls are off: anybody on the network path to ${url.host} can read passwords.`,
        )
      if (!verify)
        log.warn(`auth.ldap.no_verify is on: any server that poses as ${url.host} receives passwords.`)
    })),
  ],
})
