import { stat } from 'node:fs/promises'
import { CommandExecutionError, type Context } from 'salt-ts'
import { changeWithApt } from './command.ts'

const LISTS = '/var/lib/apt/lists'

/** Source → true if it was fetched, null if it had not changed, false if it could not be fetched. */
export type Refreshed = Record<string, boolean | null>

/** Fetch the lists of packages, unless they are younger than `cacheValidTime` seconds. */
export async function refreshLists(
  cacheValidTime: number,
  failhard: boolean,
  context: Context,
): Promise<Refreshed> {
  if (cacheValidTime > 0 && (await ageOfLists()) < cacheValidTime) return {}
  const { retcode, stdout, stderr } = await changeWithApt(['apt-get', '-q', 'update'], context)
  if (retcode !== 0) throw new CommandExecutionError(stderr)
  const { sources, failed } = readReport(stdout)
  if (failhard && failed.length > 0) {
    throw new CommandExecutionError(`Error getting repos: ${failed.join(', ')}`)
  }
  return sources
}

async function ageOfLists(): Promise<number> {
  const found = await stat(LISTS).catch(() => undefined)
  return found ? (Date.now() - found.mtimeMs) / 1000 : Number.POSITIVE_INFINITY
}

function readReport(text: string): { sources: Refreshed; failed: string[] } {
  const sources: Refreshed = {}
  const failed: string[] = []
  for (const line of text.split('\n')) {
    const [, kind, rest = ''] = /^\s*(Get|Ign|Hit|Err)\S*\s*(.*)$/.exec(line) ?? []
    if (kind === undefined) continue
    const source = rest.trim().replace(/\s+/g, ' ')
    if (kind === 'Get') sources[source.replace(/ \[.+B\]$/, '')] = true
    else sources[source] = kind === 'Hit' ? null : false
    if (kind === 'Err') failed.push(source)
  }
  return { sources, failed }
}
