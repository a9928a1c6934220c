import { readFile } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'
import { reasonOf, rewrite } from './files.ts'

/** An address of a hosts file. */
export interface HostEntry {
  readonly aliases: readonly string[]
  readonly comment?: string
}
/** Addresses and, under `comment-0`, `comment-1`, …, comment lines, in the order of the file. */
export type HostTable = Readonly<Record<string, HostEntry | readonly string[]>>

interface HostLine {
  readonly address: string
  readonly aliases: readonly string[]
  readonly comment: string
}

/** Read the content of a hosts file. An address that has several lines has the names of all of them. */
export function readHosts(text: string): HostTable {
  const table: Record<string, HostEntry | readonly string[]> = Object.create(null)
  let comments = 0
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (line.startsWith('#')) table[`comment-${comments++}`] = [line]
    const parsed = parse(line)
    if (!parsed) continue
    const { address, aliases, comment } = parsed
    const known = table[address] as HostEntry | undefined
    const kept = comment || known?.comment
    table[address] = { aliases: [...(known?.aliases ?? []), ...aliases], ...(kept && { comment: kept }) }
  }
  return { ...table }
}

/** Change the content of a hosts file, which may be missing. @throws CommandExecutionError if it cannot be read or written */
export async function changeHosts(file: string, edit: (text: string) => string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CommandExecutionError(`Couldn't read from ${file}: ${reasonOf(error)}. It is left as it is`)
  })
  const changed = edit(text ?? '')
  if (changed !== text) await rewrite(file, changed)
}

/** Set the names of an address on its first line, and remove its other lines. No names remove the address. */
export function withEntry(text: string, address: string, alias: string, comment = ''): string {
  const line = alias.trim() === '' ? [] : [`${address}\t\t${alias}${comment && `\t\t# ${comment}`}`]
  let isSet = false
  const lines = editLines(text, (old) => {
    if (addressOf(old) !== address) return [old]
    if (isSet) return []
    isSet = true
    return line
  })
  return joined(isSet ? lines : [...lines, ...line])
}

/** Remove a name from all lines of an address, and lines without any name. */
export function withoutAlias(text: string, address: string, alias: string): string {
  return joined(
    editLines(text, (old) => {
      const parsed = parse(old)
      if (parsed?.address !== address || !parsed.aliases.includes(alias)) return [old]
      const aliases = parsed.aliases.filter((one) => one !== alias)
      return aliases.length === 0 ? [] : [write({ ...parsed, aliases })]
    }),
  )
}

/** Add a name to the first line of an address, or add a line. */
export function withAlias(text: string, address: string, alias: string): string {
  let isAdded = false
  const lines = editLines(text, (old) => {
    const parsed = isAdded ? undefined : parse(old)
    if (parsed?.address !== address) return [old]
    isAdded = true
    return [write({ ...parsed, aliases: [...parsed.aliases, alias] })]
  })
  return joined(isAdded ? lines : [...lines, `${address}\t\t${alias}`])
}

/** Set the comment on the last line of an address, which is the one that counts. */
export function withComment(text: string, address: string, comment: string): string {
  const lines = editLines(text, (old) => [old])
  const at = lines.findLastIndex((line) => addressOf(line) === address)
  const parsed = parse(lines[at] ?? '')
  if (!parsed || parsed.comment === comment) return text
  return joined(lines.with(at, write({ ...parsed, comment })))
}

/** Return the address of a line; undefined for comments and blank lines. */
export const addressOf = (line: string): string | undefined => parse(line)?.address

function parse(line: string): HostLine | undefined {
  const at = line.indexOf('#')
  const [address = '', ...aliases] = (at < 0 ? line : line.slice(0, at)).trim().split(/\s+/)
  if (address === '') return undefined
  return { address, aliases, comment: at < 0 ? '' : line.slice(at + 1).trim() }
}

const write = ({ address, aliases, comment }: HostLine): string =>
  `${address}\t\t${aliases.join(' ')}${comment && `\t\t# ${comment}`}`

function editLines(text: string, edit: (line: string) => string[]): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.flatMap(edit)
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
