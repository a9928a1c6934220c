import type { Session } from './session.ts'

export interface Server {
  readonly version: string
  readonly isMariaDb: boolean
}

export async function serverOf({ run }: Session): Promise<Server> {
  const { rows } = await run('SELECT VERSION()')
  const version = String(rows[0]?.[0] ?? '')
  return { version, isMariaDb: version.includes('MariaDB') }
}

/** Whether the version of a server is at least another: `10.4`, `8.0.11`. */
export function isAtLeast({ version }: Pick<Server, 'version'>, other: string): boolean {
  const [own, wanted] = [version, other].map(
    (text) =>
      text
        .match(/^[\d.]+/)?.[0]
        .split('.')
        .map(Number) ?? [],
  )
  for (const [index, number] of (wanted ?? []).entries()) {
    const mine = own?.[index] ?? 0
    if (mine !== number) return mine > number
  }
  return true
}

export async function pluginStatus({ run }: Session, name: string): Promise<string> {
  const sql = 'SELECT PLUGIN_STATUS FROM INFORMATION_SCHEMA.PLUGINS WHERE PLUGIN_NAME = ?'
  return String((await run(sql, [name])).rows[0]?.[0] ?? '')
}
