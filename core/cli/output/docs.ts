/** Documentation of functions, as `-d` shows it. */
import type { LoaderView } from '../../author/context.ts'
import { screened } from '../../base/screened.ts'
import type { MinionResult, ProgressRow } from '../../client/index.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { printNote } from './console.ts'
import type { Printer } from './printer.ts'

export async function showMinionDocs(
  results: AsyncIterable<MinionResult | ProgressRow>,
  printer: Printer,
): Promise<number> {
  const docs = new Map<string, string>()
  for await (const result of results) {
    if (result.state !== 'returned' || typeof result.return !== 'object' || result.return === null) continue
    for (const [name, text] of Object.entries(result.return))
      if (typeof text === 'string') docs.set(name, text)
  }
  if (docs.size > 0) return showDocs(docs, printer)
  printNote('No minions found to gather docs from')
  return exitCodes.nothing
}

/** Print `name:` and the indented text of each function; another outputter prints the map. */
export async function showDocs(docs: ReadonlyMap<string, string>, printer: Printer): Promise<number> {
  const sorted = [...docs].sort(([a], [b]) => (a < b ? -1 : 1))
  if (printer.chosen !== undefined) await printer.print(Object.fromEntries(sorted))
  else for (const [name, text] of sorted) write(`${name}:\n\n${indented(text)}\n\n`)
  return exitCodes.ok
}

/** Write text of minions. */
const write = (text: string): void => {
  process.stdout.write(process.stdout.isTTY ? screened(text) : text)
}

function indented(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
}

/**
 * Return the documentation of all functions, or of those that a word selects: `jobs` all of that module,
 * `jobs.active` that one.
 * @throws UsageError if there is none
 */
export async function matchingDocs(view: LoaderView, word: string | undefined): Promise<Map<string, string>> {
  await view.broken() // logs the files that cannot be loaded
  const names = (await view.functions()).filter(
    (name) => word === undefined || name === word || name.startsWith(`${word}.`),
  )
  if (names.length === 0 && word !== undefined)
    throw new UsageError(`There is no function or module '${word}'.`)
  const docs = new Map<string, string>()
  for (const name of names) docs.set(name, (await view.help(name)) ?? 'No documentation.')
  return docs
}
