import { SaltInvocationError } from 'salt-ts'

/** Comments, white space, quoted texts and names, and semicolons of SQLite's dialect. An open quote reaches to the end. */
export const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|\s+|;|[^\s;'"`[/-]+|[\s\S]/g
const BLANK = /^(?:\s|--|\/\*)/

/**
 * Return the one statement of a text without what surrounds it, or '' if there is none. The library would run only the first of
 * several, without a word. @throws SaltInvocationError if there are several
 */
export function singleStatement(sql: string): string {
  const tokens = sql.match(TOKEN) ?? []
  const words = tokens.filter((token) => !BLANK.test(token))
  const isTrigger = /^create (?:temp |temporary )?trigger /i.test(words.slice(0, 4).join(' '))
  if (isTrigger) return sql
  const start = tokens.findIndex((token) => token !== ';' && !BLANK.test(token))
  if (start < 0) return ''
  const length = tokens.slice(start).indexOf(';')
  if (length < 0) return tokens.slice(start).join('')
  const rest = tokens.slice(start + length)
  if (rest.some((token) => token !== ';' && !BLANK.test(token)))
    throw new SaltInvocationError('You can only execute one statement at a time.')
  return tokens.slice(start, start + length).join('')
}
