import { TOKEN } from './single-statement.ts'

/**
 * Run a statement in which a name in double quotes that no column has is a text, as SQLite takes it by default. The library is built
 * without that: it says which name is no column before the statement has changed anything.
 */
export function withQuotedTexts<T>(sql: string, run: (sql: string) => T): T {
  for (let statement = sql; ; ) {
    try {
      return run(statement)
    } catch (error) {
      const name = /^no such column: (.*)$/s.exec((error as Error).message)?.[1]
      const changed = name === undefined ? statement : withText(statement, name)
      if (changed === statement) throw error
      statement = changed
    }
  }
}

function withText(sql: string, name: string): string {
  const quoted = `"${name.replaceAll('"', '""')}"`
  const text = `'${name.replaceAll("'", "''")}'`
  return sql.replace(TOKEN, (token) => (token === quoted ? text : token))
}
