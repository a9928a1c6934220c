/** Salt's `auth_sql`, in which the name and the password are put as text, as a statement they travel apart from. */

export type Given = 'username' | 'password'

export interface Statement {
  /** What stands around the values: one more than there are. */
  readonly parts: readonly string[]
  /** What they are, in order. */
  readonly values: readonly Given[]
}

const PLACE = /\{[01]\}|%s/
const WHOLE = /^(?:\{[01]\}|%s)$/
/** Texts in quotes, comments, and places outside of them. */
const PARTS = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\{[01]\}|%s|\?/g

/** Or what is wrong with it. `%s` is first the name, then the password; Salt's `{0}` and `{1}` are the same in any order. */
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
      wrong ??= `has a place for a value in the text ${part}: it has to stand alone, use concat()`
    else if (part === '?') wrong ??= 'has a ?, which must be %s'
  }
  parts.push(sql.slice(end))
  if (nth > 2) wrong ??= 'has more than two %s; use {0} and {1}'
  if (!values.includes('username') || !values.includes('password'))
    wrong ??= 'must have %s for the username and %s for the password, or everybody would be let in'
  return wrong ?? { parts, values }
}
