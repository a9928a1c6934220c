/** Turns Salt's `auth_sql`, into which Salt formats the name and the password as text, into a statement with parameters. */

export type Given = 'username' | 'password'

export interface Statement {
  /** Text around the parameters: one part more than there are parameters. */
  readonly parts: readonly string[]
  /** The parameters, in order. */
  readonly values: readonly Given[]
}

const PLACE = /\{[01]\}|%s/
const WHOLE = /^(?:\{[01]\}|%s)$/
/** Matches quoted texts, comments, and placeholders outside of them. */
const PARTS = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\{[01]\}|%s|\?/g

/**
 * Return the statement, or a sentence about the problem. The first `%s` is the name, the second the password; Salt's `{0}` and
 * `{1}` are the same, in any order.
 */
export function statementOf(sql: string): Statement | string {
  const [values, parts]: [Given[], string[]] = [[], []]
  let wrong: string | undefined
  let [nth, end] = [0, 0]
  for (const { 0: part, index } of sql.matchAll(PARTS)) {
    const inside = /^['"](.*)['"]$/s.exec(part)?.[1] ?? part
    if (WHOLE.test(inside)) {
      if (inside === '%s') nth++
      values.push(inside === '{0}' || (inside === '%s' && nth === 1) ? 'username' : 'password')
      parts.push(sql.slice(end, index))
      end = index + part.length
    } else if (PLACE.test(part))
      wrong ??= `has a placeholder inside the text ${part}: it must stand alone, use concat()`
    else if (part === '?') wrong ??= 'has a ?: write %s instead'
  }
  parts.push(sql.slice(end))
  if (nth > 2) wrong ??= 'has more than two %s; use {0} and {1}'
  if (!values.includes('username') || !values.includes('password'))
    wrong ??= 'must have %s for the username and %s for the password, else anybody could log in'
  return wrong ?? { parts, values }
}
