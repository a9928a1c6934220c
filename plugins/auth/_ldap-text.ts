/** LDAP filters and distinguished names with a user's name in them. */

/** Escape a value for a filter (RFC 4515). */
export const inFilter = (value: string): string =>
  [...Buffer.from(value)]
    .map((byte) =>
      /[\w .@-]/.test(String.fromCharCode(byte)) && byte < 128
        ? String.fromCharCode(byte)
        : `\\${byte.toString(16).padStart(2, '0')}`,
    )
    .join('')

/** Escape a value for a distinguished name (RFC 4514). */
export const inName = (value: string): string =>
  value
    .replace(/[\\,+"<>;=#]/g, '\\$&')
    .replace(/\0/g, '\\00')
    .replace(/^ | $/g, '\\ ')

const HOLE = /\{\{\s*username\s*\}\}/g

/** Whether the text has no Jinja other than `{{ username }}`, which is all that is supported. */
export const isTemplate = (text: string): boolean => !/\{[{%#]/.test(text.replace(HOLE, ''))

/** Whether the text has Salt's `{{ username }}`. */
export const hasHole = (text: string): boolean => text.search(HOLE) >= 0

const filled = (template: string, value: string): string => template.replace(HOLE, () => value)

/** Fill in a filter. Those in Salt configurations often have no parentheses around them. */
export function filterFor(template: string, username: string): string {
  const filter = filled(template, inFilter(username)).trim()
  return filter.startsWith('(') ? filter : `(${filter})`
}

/** Return the name to bind with: a distinguished name, or the other forms of Active Directory (`name@domain`, `DOMAIN\name`). */
export function bindNameFor(template: string, username: string): string | undefined {
  if (!hasHole(template)) return template
  if (template.includes('=')) return filled(template, inName(username))
  return /^[\p{L}\p{N}_.$-]+$/u.test(username) ? filled(template, username) : undefined
}

/** Return `web admins` for `cn=web admins,ou=Groups,dc=example,dc=com`; undefined if the text is not a distinguished name. */
export function firstValue(dn: string): string | undefined {
  const [, value] = /^[\w.-]+\s*=\s*((?:\\.|[^,+\\])*)/.exec(dn) ?? []
  if (value === undefined) return undefined
  const bytes = value
    .trim()
    .replace(/(?:\\[\da-f]{2})+/gi, (hex) => Buffer.from(hex.replaceAll('\\', ''), 'hex').toString())
  return bytes.replace(/\\(.)/g, '$1')
}

/** Return the attributes that a template compares with the username: `uid` for `(&(uid={{ username }})(objectClass=person))`. */
export const comparedWith = (template: string): readonly string[] =>
  [...template.matchAll(/([\w.;-]+)\s*=\s*\{\{\s*username\s*\}\}(?=\s*(?:[),+]|$))/g)].map(
    ([, name = '']) => name,
  )
