/** Salt's options `auth.ldap.*`. */
import { hasHole, isTemplate } from './_ldap-text.ts'
import { readSettings } from './_settings.ts'

const PREFIX = 'auth.ldap.'
/** Options of Salt that have no effect here, and why. */
const WITHOUT_EFFECT = {
  auth_by_group_membership_only: 'has no effect: a password is always checked. Remove it',
} as const

export interface LdapSettings {
  readonly url: URL
  readonly startTls: boolean
  readonly verify: boolean
  readonly authorities: string | undefined
  readonly seconds: number
  readonly baseDn: string
  /** DN of the account that searches for users; or, without a password, a template of the name that users bind with. */
  readonly bindDn: string | undefined
  readonly bindPassword: string | undefined
  /** Whether users are searched for without an account. */
  readonly anonymous: boolean
  readonly filter: string | undefined
  readonly scope: 'base' | 'one' | 'sub'
  readonly groups: GroupSettings
}

export interface GroupSettings {
  readonly kind: 'openldap' | 'activedirectory' | 'freeipa'
  readonly base: string
  readonly filter: string | undefined
  readonly account: string
  readonly membership: string
  readonly groupClass: string
  readonly personType: string
}

/** Read the options that begin with `auth.ldap.`, and those given as `^name` in `external_auth.ldap`. */
export function ldapSettings(
  opts: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, unknown>>,
): LdapSettings {
  const written = Object.entries(opts).flatMap(([name, value]) =>
    name.startsWith(PREFIX) ? [[name.slice(PREFIX.length), value] as const] : [],
  )
  return readSettings(PREFIX, { ...Object.fromEntries(written), ...own }, (read) => {
    for (const [name, why] of Object.entries(WITHOUT_EFFECT)) if (read.flag(name)) read.refuse(name, why)
    const baseDn = read.text('basedn') ?? ''
    const groupOu = read.text('groupou') ?? (read.isEmptied('groupou') ? '' : 'Groups')
    const template = (name: string): string | undefined => {
      const text = read.text(name)
      if (text !== undefined && !isTemplate(text))
        read.refuse(name, 'has Jinja other than {{ username }}, which is all that is supported')
      return text
    }
    /** Read an attribute name. Filters get it unescaped. */
    const attribute = (name: string, fallback: string): string => {
      const text = read.text(name) ?? fallback
      if (!/^[\w.;-]+$/.test(text)) read.refuse(name, 'must be the name of an attribute or a class')
      return text
    }
    const [tls, startTls] = [read.flag('tls'), read.flag('starttls')]
    if (tls && startTls) read.refuse('starttls', 'and auth.ldap.tls exclude each other')
    const settings: LdapSettings = {
      url: urlOf(
        read.text('uri'),
        read.text('server') ?? 'localhost',
        read.integer('port', tls ? 636 : 389, [1, 65_535]),
        tls,
      ),
      startTls,
      verify: !read.flag('no_verify'),
      authorities: read.text('ca_file'),
      seconds: read.seconds('timeout', 10),
      baseDn,
      bindDn: template('binddn'),
      bindPassword: read.text('bindpw'),
      anonymous: read.flag('anonymous'),
      filter: template('filter'),
      scope: (['base', 'one', 'sub'] as const)[read.integer('scope', 2, [0, 2])] ?? 'sub',
      groups: {
        kind: read.flag('activedirectory')
          ? 'activedirectory'
          : read.flag('freeipa')
            ? 'freeipa'
            : 'openldap',
        base:
          read.text('group_basedn') ??
          read.text('groupbasedn') ??
          (groupOu === '' ? baseDn : `ou=${groupOu},${baseDn}`),
        filter: template('group_filter'),
        account: attribute('accountattributename', 'memberUid'),
        membership: attribute('groupattribute', 'memberOf'),
        groupClass: attribute('groupclass', 'posixGroup'),
        personType: attribute('persontype', 'person'),
      },
    }
    for (const [name, why] of contradictionsIn(settings)) read.refuse(name, why)
    return settings
  })
}

/** Return the URL of the server; one with the scheme `none:` if it cannot be read, which the check of the scheme refuses. */
function urlOf(uri: string | undefined, server: string, port: number, tls: boolean): URL {
  const host = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server
  const text = uri?.trim() ?? `${tls ? 'ldaps' : 'ldap'}://${host}:${port}`
  return !/\s/.test(text) && URL.canParse(text) ? new URL(text) : new URL('none:')
}

/** Settings that contradict each other, each as the setting's name and a sentence. */
function contradictionsIn(settings: LdapSettings): (readonly [name: string, why: string])[] {
  const { url, startTls, bindDn, filter, groups } = settings
  const wrong = [
    !/^ldaps?:$/.test(url.protocol) &&
      (['uri', 'must be one address that begins with ldap:// or ldaps://'] as const),
    startTls &&
      url.protocol === 'ldaps:' &&
      (['starttls', 'is for ldap://, and auth.ldap.uri begins with ldaps://'] as const),
    groups.kind === 'freeipa' && groups.filter === undefined && (['group_filter', 'is missing'] as const),
    ...(looksForUsers(settings)
      ? [
          filter === undefined &&
            ([
              'filter',
              'is missing: set it to the filter that finds a user, like uid={{ username }}',
            ] as const),
          filter !== undefined &&
            !hasHole(filter) &&
            (['filter', 'has no {{ username }}: it would find the same entries for every user'] as const),
        ]
      : [
          bindDn === undefined &&
            ([
              'binddn',
              'is missing: set it to a template like uid={{ username }},ou=People,dc=example,dc=com',
            ] as const),
          bindDn !== undefined &&
            !hasHole(bindDn) &&
            (['bindpw', 'is missing, or auth.ldap.binddn has no {{ username }}'] as const),
          bindDn !== undefined &&
            !/[=@\\]/.test(bindDn) &&
            (['binddn', 'must be a distinguished name, name@domain or DOMAIN\\name'] as const),
        ]),
  ]
  return wrong.filter((one) => one !== false)
}

/** Whether users are found by a search; else their name is made from `binddn`. */
export const looksForUsers = ({ anonymous, bindDn, bindPassword }: LdapSettings): boolean =>
  anonymous || (bindDn !== undefined && bindPassword !== undefined)
