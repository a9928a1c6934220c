/** Documentation as `-d` shows it: each function once, whichever minion it comes from. */
import type { MinionResult, ProgressRow } from '../client/index.ts'
import { tell } from './console.ts'
import { exitCodes } from './exit-codes.ts'
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
  tell('No minions found to gather docs from')
  return exitCodes.nothing
}

/** `name:` and the text under it; another outputter gets the map. */
export async function showDocs(docs: ReadonlyMap<string, string>, printer: Printer): Promise<number> {
  const sorted = [...docs].sort(([a], [b]) => (a < b ? -1 : 1))
  if (printer.chosen !== undefined) await printer.print(Object.fromEntries(sorted))
  else for (const [name, text] of sorted) process.stdout.write(`${name}:\n\n${indented(text)}\n\n`)
  return exitCodes.ok
}

function indented(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
}
