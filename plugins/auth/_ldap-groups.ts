/** The groups of a user, searched as Salt does in the three kinds of directories. */
import { type LdapConnection, valuesOf } from './_ldap-connection.ts'
import type { GroupSettings, LdapSettings } from './_ldap-settings.ts'
import { filterFor, firstValue, inFilter } from './_ldap-text.ts'

interface User {
  readonly name: string
  /** Distinguished name in the directory; undefined if the user bound without a search. */
  readonly dn: string | undefined
}

type Search = (connection: LdapConnection, user: User, settings: LdapSettings) => Promise<readonly string[]>

const searches: Readonly<Record<GroupSettings['kind'], Search>> = {
  async activedirectory(connection, { name, dn }, { baseDn, groups }) {
    const person = `(&(${groups.account}=${inFilter(name)})(objectClass=${groups.personType}))`
    const found = dn === undefined ? await connection.search(baseDn, person, ['1.1'], 'sub') : [{ dn }]
    const [user] = found
    if (!user || found.length > 1) return []
    const filter = `(&(member=${inFilter(user.dn)})(objectClass=${groups.groupClass}))`
    const entries = await connection.search(baseDn, filter, ['cn'], 'sub')
    return entries.flatMap((entry) => valuesOf(entry, 'cn').slice(0, 1))
  },

  async freeipa(connection, { name }, { groups }) {
    const filter = filterFor(groups.filter ?? '', name)
    const entries = await connection.search(groups.base, filter, [groups.account, groups.membership], 'sub')
    const isMember = (value: string) => isSame(firstValue(value) ?? value, name)
    return entries
      .filter((entry) =>
        [groups.account, groups.membership].some((each) => valuesOf(entry, each).some(isMember)),
      )
      .flatMap((entry) => firstValue(entry.dn) ?? [])
  },

  /** Groups that list the user, and those that the user's own entry lists. */
  async openldap(connection, { name, dn }, { groups }) {
    const { account, membership, groupClass } = groups
    const filter = `(&(${account}=${inFilter(name)})(objectClass=${groupClass}))`
    const entries = await connection.search(groups.base, filter, [account, 'cn', membership], 'sub')
    const ofUser = (entry: { readonly dn: string }) =>
      dn === undefined ? firstValue(entry.dn) === name : entry.dn === dn
    const own = dn === undefined ? [] : await connection.search(dn, '(objectClass=*)', [membership], 'base')
    return [
      ...entries.filter((entry) => !ofUser(entry)).flatMap((entry) => valuesOf(entry, 'cn').slice(0, 1)),
      ...[...entries.filter(ofUser), ...own]
        .flatMap((entry) => valuesOf(entry, membership))
        .flatMap((value) => firstValue(value) ?? []),
    ]
  },
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** Return the names of the user's groups, each once. */
export async function groupsOf(
  connection: LdapConnection,
  user: User,
  settings: LdapSettings,
): Promise<readonly string[]> {
  return [...new Set(await searches[settings.groups.kind](connection, user, settings))]
}
