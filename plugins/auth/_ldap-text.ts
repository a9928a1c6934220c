/** Texts of LDAP with a name of a user in them. */

/** RFC 4515: nothing in a value ends it or means anything else. */
export const inFilter = (value: string): string =>
  [...Buffer.from(value)]
    .map((byte) =>
      /[\w .@-]/.test(String.fromCharCode(byte)) && byte < 128
        ? String.fromCharCode(byte)
        : `\\${byte.toString(16).padStart(2, '0')}`,
    )
    .join('')

/** RFC 4514, as a value of a distinguished name. */
export const inName = (value: string): string =>
  value
    .replace(/[\\,+"<>;=#]/g, '\\$&')
    .replace(/\0/g, '\\00')
    .replace(/^ | $/g, '\\ ')

const HOLE = /\{\{\s*username\s*\}\}/g

/** Anything else between such braces is Jinja that is not understood. */
export const isTemplate = (text: string): boolean => !/\{[{%#]/.test(text.replace(HOLE, ''))

/** Salt's `{{ username }}`. */
export const hasHole = (text: string): boolean => text.search(HOLE) >= 0

const filled = (template: string, value: string): string => template.replace(HOLE, () => value)

/** Filters of Salt's users often have no parentheses around them. */
export function filterFor(template: string, username: string): string {
  const filter = filled(template, inFilter(username)).trim()
  return filter.startsWith('(') ? filter : `(${filter})`
}

/** With whom to bind: a distinguished name, or what Active Directory takes as well (`name@domain`, `DOMAIN\name`). */
export function bindNameFor(template: string, username: string): string | undefined {
  if (!hasHole(template)) return template
  if (template.includes('=')) return filled(template, inName(username))
  return /^[\p{L}\p{N}_.$-]+$/u.test(username) ? filled(template, username) : undefined
}

/** `web admins` of `cn=web admins,ou=Groups,dc=example,dc=com`; undefined for what is no distinguished name. */
export function firstValue(dn: string): string | undefined {
  const [, value] = /^[\w.-]+\s*=\s*((?:\\.|[^,+\\])*)/.exec(dn) ?? []
  if (value === undefined) return undefined
  const bytes = value
    .trim()
    .replace(/(?:\\[\da-f]{2})+/gi, (hex) => Buffer.from(hex.replaceAll('\\', ''), 'hex').toString())
  return bytes.replace(/\\(.)/g, '$1')
}

/** Attributes that are compared with the name: `uid` of `(&(uid={{ username }})(objectClass=person))`. */
export const comparedWith = (template: string): readonly string[] =>
  [...template.matchAll(/([\w.;-]+)\s*=\s*\{\{\s*username\s*\}\}(?=\s*(?:[),+]|$))/g)].map(
    ([, name = '']) => name,
  )
