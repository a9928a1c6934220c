/** Comments, quoted texts and names, and semicolons of MySQL's dialect. */
const TOKEN =
  /--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!!)[\s\S]*?(?:\*\/|$)|'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|;|[^;'"`#/-]+|[\s\S]/g
const COMMENT = /^(?:--\s|--$|#|\/\*(?!!))/

/** Split a script into its statements, without comments. */
export function statementsIn(script: string): string[] {
  const found = ['']
  for (const token of script.match(TOKEN) ?? []) {
    if (token === ';') found.push('')
    else found[found.length - 1] += COMMENT.test(token) ? ' ' : token
  }
  return found.map((statement) => statement.trim()).filter(Boolean)
}
