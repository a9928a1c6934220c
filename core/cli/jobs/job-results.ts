/** Prints the results of a job in one of several forms, and returns its exit code. */
import { shortList } from '../../base/sentence.ts'
import { hasReturned, type MinionResult, type ProgressRow } from '../../client/index.ts'
import { printNote } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'
import { foldedIds } from './folded-ids.ts'
import { type ExitCodeSettings, jobExitCode } from './job-exit-code.ts'
import { isPrinted, printedValue, printOptions } from './printed-result.ts'
import type { ProgressDisplay } from './progress.ts'
import { printStates, printSummary } from './summary.ts'
import { Tally } from './tally.ts'

export interface ShowSettings extends ExitCodeSettings {
  readonly printer: Printer
  readonly summary: boolean
  /** List ids in the summary, and print why minions did not return or failed. */
  readonly verbose: boolean
  /** Print equal answers once, at the end, with their minions. */
  readonly group?: boolean
  /** Print no results (`--progress`). */
  readonly silently?: boolean
  /** Print the complete return of each minion, with its state. */
  readonly fullReturn?: boolean
  /** Print each minion that did not return by itself, even if many have the same reason. */
  readonly eachMissing?: boolean
  /** Progress display of the running job. */
  readonly progress?: ProgressDisplay | undefined
}

/** One form of printing results: at once, grouped, … */
export interface Presentation {
  row(row: ProgressRow): Promise<void>
  take(result: MinionResult): Promise<void>
  /** The job has ended. */
  end(): Promise<void>
}

/** Print rows and results, and return the exit code: 0 only if every expected minion returned and succeeded. */
export async function showResults(
  results: AsyncIterable<MinionResult | ProgressRow>,
  settings: ShowSettings,
): Promise<number> {
  const { progress, printer } = settings
  const presentation = await presentationOf(settings)
  const tally = new Tally()
  try {
    for await (const result of results) {
      if (result.state === 'progress') {
        await presentation.row(result)
        continue
      }
      tally.add(result)
      await presentation.take(result)
    }
  } finally {
    progress?.end()
  }
  await presentation.end()
  if (settings.summary && printer.chosen === undefined) printSummary(tally, settings.verbose)
  else if (settings.verbose) printStates(tally)
  warnOfTrimmed(tally)
  printProblems(tally, settings)
  return jobExitCode(tally, settings)
}

async function presentationOf(settings: ShowSettings): Promise<Presentation> {
  if (settings.silently) return nothing
  if (settings.group) return (await import('./grouped.ts')).grouped(settings)
  return settings.isStatic ? asOneDocument(settings) : asTheyCome(settings)
}

const nothing: Presentation = {
  row: async () => undefined,
  take: async () => undefined,
  end: async () => undefined,
}

/** Print returns as they come, then the minions that did not return: many with the same reason as one block. */
function asTheyCome(settings: ShowSettings): Presentation {
  const { printer } = settings
  const rows = new Map<string, number>()
  const missing = new Map<string, MinionResult[]>()
  const folds = printer.chosen === undefined && !settings.fullReturn && !settings.eachMissing
  const print = (heading: string, result: MinionResult) =>
    printer.print({ [heading]: printedValue(result, settings) }, printOptions(result, settings))
  return {
    async row({ id, row }) {
      await printer.print({ [id]: row })
      rows.set(id, (rows.get(id) ?? 0) + 1)
    },
    async take(result) {
      if (!isPrinted(result, settings)) return
      if (folds && !hasReturned(result)) {
        const group = missing.get(result.reason)
        if (group) group.push(result)
        else missing.set(result.reason, [result])
      } else if (settings.fullReturn || !wasShownByRow(result, rows.get(result.id))) {
        await print(result.id, result)
      }
    },
    async end() {
      for (const group of missing.values()) {
        const ids = group.map(({ id }) => id)
        if (group.length > MAX_SINGLY_SHOWN) await print(`${foldedIds(ids)} (${ids.length})`, group[0]!)
        else for (const result of group) await print(result.id, result)
      }
    },
  }
}

/** How many minions with the same reason are still printed one by one. */
const MAX_SINGLY_SHOWN = 5

/** Whether a return consists of the rows that were printed already. */
const wasShownByRow = (result: MinionResult, rows: number | undefined): boolean =>
  hasReturned(result) && Array.isArray(result.return) && result.return.length === rows

function asOneDocument(settings: ShowSettings): Presentation {
  const results: MinionResult[] = []
  return {
    ...nothing,
    async take(result) {
      if (isPrinted(result, settings)) results.push(result)
    },
    async end() {
      const sorted = results.sort((a, b) => (a.id < b.id ? -1 : 1))
      const outs = new Set(sorted.map((result) => (hasReturned(result) ? result.out : undefined)))
      const outputter = outs.size === 1 && !settings.fullReturn ? [...outs][0] : undefined
      const pairs = sorted.map((result) => [result.id, printedValue(result, settings)])
      await settings.printer.print(Object.fromEntries(pairs), { outputter })
    },
  }
}

const MAX_IDS = 10

function warnOfTrimmed({ trimmed }: Tally): void {
  for (const [jid, ids] of trimmed)
    printNote(
      `WARNING: The return of ${shortList(ids, MAX_IDS)} is too large for an event (max_event_size) and is ` +
        `shown as VALUE_TRIMMED. Users who may read the master's job cache see all of it: salt-run jobs.lookup_jid ${jid}`,
    )
}

const MAX_CODES = 5

function printProblems(
  { total, returned, failures, missing, waiting }: Tally,
  { legacy, summary, verbose }: ShowSettings,
): void {
  if (returned === 0 && waiting.length === 0) {
    printNote('ERROR: No return received')
    return
  }
  if (failures.length > 0) {
    printNote(`ERROR: Minions returned with non-zero exit code (${failures.length} of ${total})`)
    const codes = failures.map(({ id, code }) => `${id}: ${code}`)
    if (!legacy && !summary && !verbose) printNote(`Exit codes: ${shortList(codes, MAX_CODES)}`)
  }
  if (missing.length > 0) printNote(`ERROR: Minions did not return (${missing.length} of ${total})`)
}
