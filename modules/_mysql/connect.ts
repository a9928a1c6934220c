/** Connections to MySQL and MariaDB. */
import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import type { ConnectionOptions } from 'mysql2/promise'
import { CommandExecutionError, type Context, p } from 'salt-ts'
import { library } from '../_database/library.ts'
import { setting } from '../_database/settings.ts'

const CONNECT_MS = 10_000
const text = p.optional(p.string())

/** Where a function connects to, unless the settings `mysql.host`, … say it. */
export const connection = {
  connection_host: text,
  connection_user: text,
  connection_pass: p.secret(p.optional(p.string())),
  connection_port: p.optional(p.integer({ minimum: 1, maximum: 65_535 })),
  connection_db: text,
  connection_unix_socket: text,
  connection_default_file: text,
  connection_default_group: text,
  connection_charset: text,
}

export interface Place {
  readonly connection_host?: string | undefined
  readonly connection_user?: string | undefined
  readonly connection_pass?: string | undefined
  readonly connection_port?: number | undefined
  readonly connection_db?: string | undefined
  readonly connection_unix_socket?: string | undefined
  readonly connection_default_file?: string | undefined
  readonly connection_default_group?: string | undefined
  readonly connection_charset?: string | undefined
}

/** A server that cannot be reached, or refuses the log-in. The message is Salt's: `MySQL Error 1045: …`. */
export class NoConnection extends Error {
  override name = 'NoConnection'
  readonly number: number
  constructor(message: string, number: number) {
    super(message)
    this.number = number
  }
}

/**
 * Resolves with a Connection of mysql2, whose type is not in the declaration: the package may be missing where that is read. Rejects
 * with {@link NoConnection}.
 */
export async function connect(place: Place, context: Context): Promise<unknown> {
  const { createConnection } = library<typeof import('mysql2/promise')>('mysql', 'mysql2/promise')
  const options = await optionsOf(place, context)
  try {
    const opened = await createConnection({ ...options, connectTimeout: CONNECT_MS })
    opened.on('error', () => undefined)
    return opened
  } catch (error) {
    const { errno = 0, code, message } = error as Error & { errno?: number; code?: string }
    if (errno > 0) throw new NoConnection(`MySQL Error ${errno}: ${message}`, errno)
    const where = options.socketPath ?? options.host
    throw new NoConnection(
      `MySQL Error 2003: Can't connect to MySQL server on '${where}' (${code ?? message})`,
      2003,
    )
  }
}

async function optionsOf(place: Place, context: Context): Promise<ConnectionOptions> {
  const { connection_default_file: file, connection_default_group: group } = place
  const of = async (name: keyof Place, key = name.replace('connection_', '')) =>
    place[name] ?? (file === undefined ? await setting(`mysql.${key}`, context) : undefined)
  const fromFile = file ?? (await textOf(of('connection_default_file')))
  const defaults = fromFile ? await readDefaults(fromFile, group ?? 'client') : {}
  const host = (await textOf(of('connection_host'))) || defaults.host
  const port = Number((await of('connection_port')) ?? defaults.port ?? 3306)
  const socket = (await textOf(of('connection_unix_socket'))) || defaults.socket
  const database = await textOf(of('connection_db'))
  const charset = await textOf(of('connection_charset'))
  const password = (await textOf(of('connection_pass'))) || defaults.password
  return {
    user: (await textOf(of('connection_user'))) || defaults.user || userInfo().username,
    ...(password && { password }),
    ...(database && { database }),
    ...(charset && { charset }),
    ...(await addressOf(host, port, socket)),
  }
}

const textOf = async (value: Promise<unknown>): Promise<string | undefined> => {
  const found = await value
  return found === undefined || found === null ? undefined : String(found)
}

const SOCKETS = ['/var/run/mysqld/mysqld.sock', '/var/lib/mysql/mysql.sock', '/tmp/mysql.sock']

/** `localhost` is the local socket, as for all clients of MySQL. */
async function addressOf(host: string | undefined, port: number, socket: string | undefined) {
  if (socket) return { socketPath: socket }
  if (host && host !== 'localhost') return { host, port }
  for (const path of SOCKETS) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isSocket()) return { socketPath: path }
  }
  return { host: host ?? 'localhost', port }
}

/** Read the settings of a group in a file such as /etc/mysql/debian.cnf. */
async function readDefaults(path: string, group: string): Promise<Record<string, string>> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandExecutionError(`The file of MySQL's settings, ${path}, cannot be read (${error.code}).`)
  })
  let isMeant = false
  const found: Record<string, string> = {}
  for (const line of content.split('\n').map((each) => each.trim())) {
    const section = /^\[(.*)\]$/.exec(line)?.[1]
    if (section !== undefined) isMeant = section.trim() === group
    const [, name, value = ''] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? []
    if (isMeant && name && !line.startsWith('#')) found[name] = value.replace(/^(['"])(.*)\1$/, '$2')
  }
  return found
}
