/**
 * Read and change the hosts file: /etc/hosts, or the file that the option `hosts.file` names.
 *
 * Lines that do not change keep their text. The file is replaced atomically.
 */
import { stat } from 'node:fs/promises'
import { type Context, fn, p } from 'salt-ts'
import { textOf } from './_host/files.ts'
import {
  addressOf,
  changeHosts,
  type HostEntry,
  type HostTable,
  readHosts,
  withAlias,
  withComment,
  withEntry,
  withoutAlias,
} from './_host/hosts-file.ts'
import { inTurn } from './_lock/in-turn.ts'
import { textOnly } from './_values/text-only.ts'

const DEFAULT_FILE = '/etc/hosts'

const ip = p.string()
const alias = p.string({ description: 'A name, or several that are separated by spaces.' })

/**
 * Return the hosts file as a map of addresses to their `aliases` and `comment`. Comment lines are lists under `comment-0`,
 * `comment-1`, ….
 *
 * @example salt '*' hosts.list_hosts
 */
export const list_hosts = fn((_, context): Promise<HostTable> => table(context))

/**
 * Return the address of a name, an empty text if the file has none.
 *
 * @example salt '*' hosts.get_ip localhost
 */
export const get_ip = fn({ host: p.string() }, async ({ host }, context) => {
  const found = Object.entries(await table(context)).find(([, entry]) => aliasesOf(entry).includes(host))
  return found?.[0] ?? ''
})

/**
 * List the names of an address.
 *
 * @example salt '*' hosts.get_alias 127.0.0.1
 */
export const get_alias = fn({ ip }, async ({ ip }, context) => aliasesOf((await table(context))[ip]))

/**
 * True if an address has a name, or each name of a list.
 *
 * @example salt '*' hosts.has_pair 127.0.0.1 localhost
 */
export const has_pair = fn(
  { ip, alias: p.union(p.string(), p.array(p.string())) },
  async ({ ip, alias }, context) => hasAliases((await table(context))[ip], [alias].flat()),
)

/**
 * Set the names of an address, in place of all its lines. An empty `alias` removes the address.
 *
 * @example salt '*' hosts.set_host 10.1.1.5 'web1 web1.example.com'
 * @example salt '*' hosts.set_host 10.1.1.5 web1 comment='the old one'
 */
export const set_host = fn(
  { ip, alias, comment: p.optional(p.string()) },
  async ({ ip, alias, comment }, context) =>
    change(context, (text) => withEntry(text, oneLine(ip), oneLine(alias), comment && oneLine(comment))),
)

/**
 * Remove a name from an address; the line goes with its last name.
 *
 * @example salt '*' hosts.rm_host 10.1.1.5 web1
 */
export const rm_host = fn({ ip, alias }, async ({ ip, alias }, context) => {
  if (!hasAliases((await table(context))[ip], [alias])) return true
  return change(context, (text) => withoutAlias(text, ip, alias))
})

/**
 * Add a name to an address.
 *
 * @example salt '*' hosts.add_host 10.1.1.5 web1
 */
export const add_host = fn({ ip, alias: textOnly() }, async ({ ip, alias }, context) => {
  if (hasAliases((await table(context))[ip], [alias])) return true
  return change(context, (text) => withAlias(text, oneLine(ip), oneLine(alias)))
})

/**
 * Set the comment of an address. False if the file has no such address.
 *
 * @example salt '*' hosts.set_comment 10.1.1.5 'the new one'
 */
export const set_comment = fn({ ip, comment: p.string() }, async ({ ip, comment }, context) => {
  const text = (await textOf(await hostsFile(context))) ?? ''
  if (!text.split('\n').some((line) => addressOf(line) === ip)) return false
  return change(context, (text) => withComment(text, ip, oneLine(comment)))
})

async function hostsFile({ call }: Context): Promise<string> {
  const file = await call('config.option', { value: 'hosts.file' })
  return typeof file === 'string' && file !== '' ? file : DEFAULT_FILE
}

async function table(context: Context): Promise<HostTable> {
  return readHosts((await textOf(await hostsFile(context))) ?? '')
}

// As in Salt, a file that is missing is created, and a folder in its place is no error.
async function change(context: Context, edit: (text: string) => string): Promise<boolean> {
  const file = await hostsFile(context)
  const found = await stat(file).catch(() => undefined)
  if (found && !found.isFile()) return false
  await inTurn(file, context, () => changeHosts(file, edit))
  return true
}

const aliasesOf = (entry: HostEntry | readonly string[] | undefined): readonly string[] =>
  entry && 'aliases' in entry ? entry.aliases : []

function hasAliases(entry: HostEntry | readonly string[] | undefined, aliases: readonly string[]): boolean {
  const known = aliasesOf(entry)
  return entry !== undefined && aliases.every((alias) => known.includes(alias))
}

/** A line break in a value would be a line of its own in the file. */
const oneLine = (value: string): string => value.replace(/[\r\n]+/g, ' ')
