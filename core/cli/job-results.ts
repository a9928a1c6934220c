/** Shows the results of a job as they come, or all at once, and says how it ended. */
import type { MinionResult, ProgressRow } from '../client/index.ts'
import { tell } from './console.ts'
import { exitCodes } from './exit-codes.ts'
import type { Printer } from './printer.ts'

export interface ShowSettings {
  readonly printer: Printer
  /** Gather everything and print one document, sorted by id. */
  readonly together: boolean
  /** Name the minions that did not return. */
  readonly showMissing: boolean
  readonly summary: boolean
  /** List ids in the summary. */
  readonly verbose: boolean
}

/** Rows as they come, then results. The exit code: 0 only if every expected minion returned and succeeded. */
export async function showResults(
  results: AsyncIterable<MinionResult | ProgressRow>,
  settings: ShowSettings,
): Promise<number> {
  const seen: MinionResult[] = []
  const rows = new Map<string, number>()
  for await (const result of results) {
    if (result.state === 'progress') {
      await settings.printer.print({ [result.id]: result.row })
      rows.set(result.id, (rows.get(result.id) ?? 0) + 1)
      continue
    }
    seen.push(settings.together || result.state === 'missing' ? result : { ...result, return: undefined })
    if (!settings.together && !isShown(result, rows.get(result.id))) await show(result, settings)
  }
  if (settings.together) await showTogether(seen, settings)
  if (settings.summary && settings.printer.chosen === undefined) printSummary(seen, settings.verbose)
  return verdict(seen)
}

/** A return that is nothing but the rows, all of which were shown, is not shown again. */
const isShown = (result: MinionResult, rows: number | undefined): boolean =>
  result.state === 'returned' && Array.isArray(result.return) && result.return.length === rows

async function show(result: MinionResult, { printer, showMissing }: ShowSettings): Promise<void> {
  if (result.state === 'missing') {
    if (showMissing) await printer.print({ [result.id]: result.reason }, { outputter: 'no_return' })
    return
  }
  const retcode = failed(result) ? result.retcode || 1 : 0
  await printer.print({ [result.id]: result.return }, { outputter: result.out, retcode })
}

async function showTogether(
  results: readonly MinionResult[],
  { printer, showMissing }: ShowSettings,
): Promise<void> {
  const shown = results.filter((result) => showMissing || result.state === 'returned')
  const sorted = [...shown].sort((a, b) => (a.id < b.id ? -1 : 1))
  const outs = new Set(sorted.map((result) => (result.state === 'returned' ? result.out : undefined)))
  const pairs = sorted.map((result) => [
    result.id,
    result.state === 'returned' ? result.return : result.reason,
  ])
  await printer.print(Object.fromEntries(pairs), { outputter: outs.size === 1 ? [...outs][0] : undefined })
}

const failed = (result: MinionResult): boolean =>
  result.state === 'returned' && (result.retcode !== 0 || !result.success)

function verdict(results: readonly MinionResult[]): number {
  const silent = results.filter(({ state }) => state === 'missing').length
  if (silent === results.length) {
    tell('ERROR: No return received')
    return exitCodes.nothing
  }
  const failures = results.filter(failed).length
  if (failures > 0) tell(`ERROR: Minions returned with non-zero exit code (${failures} of ${results.length})`)
  if (silent > 0) tell(`ERROR: Minions did not return (${silent} of ${results.length})`)
  return failures + silent > 0 ? exitCodes.failed : exitCodes.ok
}

const RULE = '-'.repeat(43)

function printSummary(results: readonly MinionResult[], verbose: boolean): void {
  const returned = results.filter(({ state }) => state === 'returned')
  const silent = results.filter(({ state }) => state === 'missing')
  const errors = returned.filter(failed)
  const ids = (list: readonly MinionResult[]) =>
    verbose && list.length > 0
      ? [
          list
            .map(({ id }) => id)
            .sort()
            .join('\n'),
        ]
      : []
  const lines = [
    RULE,
    'Summary',
    RULE,
    `# of minions targeted: ${results.length}`,
    `# of minions returned: ${returned.length}`,
    `# of minions that did not return: ${silent.length}`,
    ...ids(silent),
    `# of minions with errors: ${errors.length}`,
    ...ids(errors),
    RULE,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
