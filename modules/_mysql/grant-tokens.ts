/** Reads statements such as GRANT SELECT ON `db`.* TO 'user'@'host', as servers show them. */

export interface GrantTokens {
  readonly user: string
  readonly host: string
  /** Privileges; one on a column is `SELECT.column`. */
  readonly grant: string[]
  readonly database: string
}

const TOKEN = /'[^']*'|`[^`]*`|[\w"][\w"'`]*|\S/g
const SIGNS = new Set([',', 'ON', '(', ')'])

/** Return the parts of a GRANT statement; empty ones if it is none. */
export function grantTokens(statement: string): GrantTokens {
  const [, ...tokens] = statement.match(TOKEN) ?? []
  const on = indexAfter(tokens, 'ON', 0)
  const to = indexAfter(tokens, 'TO', on)
  const at = tokens.indexOf('@', to)
  if (on === 0 || to === 0) return { user: '', host: '', grant: [], database: '' }
  return {
    user: withoutQuotes(tokens.slice(to, at < 0 ? to + 1 : at).join('')),
    host: at < 0 ? '' : withoutQuotes(tokens[at + 1] ?? ''),
    grant: privileges(tokens.slice(0, on - 1)),
    database: tokens.slice(on, to - 1).join(''),
  }
}

const indexAfter = (tokens: readonly string[], word: string, from: number): number =>
  tokens.indexOf(word, from) + 1

const withoutQuotes = (text: string): string => text.replace(/^'+|'+$/g, '')

function privileges(tokens: readonly string[]): string[] {
  const found: string[] = []
  let words: string[] = []
  let inColumns = false
  let privilege = ''
  for (const [index, token] of tokens.entries()) {
    if (token === '(') inColumns = true
    else if (token === ')') inColumns = false
    else if (token !== ',') {
      words.push(token)
      if (!SIGNS.has(tokens[index + 1] ?? 'ON')) continue
      if (!inColumns) privilege = words.join(' ')
      found.push(inColumns ? `${privilege}.${words.join(' ')}` : privilege)
      words = []
    }
  }
  return found
}
