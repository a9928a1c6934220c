/** Shows the results of a job, one way or another, and says how it ended. */
import { shortList } from '../base/short-list.ts'
import type { MinionResult, ProgressRow } from '../client/index.ts'
import { tell } from './console.ts'
import { foldedIds } from './folded-ids.ts'
import { jobExitCode, type VerdictSettings } from './job-exit-code.ts'
import type { Printer } from './printer.ts'
import type { Live } from './progress.ts'
import { isNamed, printedAs, shownOf } from './shown.ts'
import { printSummary, tellStates } from './summary.ts'
import { Tally } from './tally.ts'

export interface ShowSettings extends VerdictSettings {
  readonly printer: Printer
  readonly summary: boolean
  /** List ids in the summary; say why minions did not return or failed. */
  readonly verbose: boolean
  /** Print equal answers once, at the end, with the ids of the minions. */
  readonly group?: boolean
  /** Print nothing of them (`--progress`). */
  readonly silently?: boolean
  /** Of each minion the whole return, with its state. */
  readonly fullReturn?: boolean
  /** Show each minion that did not return by itself, also where many have the same reason. */
  readonly eachMissing?: boolean
  /** What shows how far the job is, while it runs. */
  readonly live?: Live | undefined
}

/** Where results go: printed at once, gathered, … */
export interface Presentation {
  row(row: ProgressRow): Promise<void>
  take(result: MinionResult): Promise<void>
  /** Nothing more comes. */
  end(): Promise<void>
}

/** Rows as they come, then results. The exit code: 0 only if every expected minion returned and succeeded. */
export async function showResults(
  results: AsyncIterable<MinionResult | ProgressRow>,
  settings: ShowSettings,
): Promise<number> {
  const { live, printer } = settings
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
    live?.end()
  }
  await presentation.end()
  if (settings.summary && printer.chosen === undefined) printSummary(tally, settings.verbose)
  else if (settings.verbose) tellStates(tally)
  tellTrimmed(tally)
  tellVerdict(tally, settings)
  return jobExitCode(tally, settings)
}

async function presentationOf(settings: ShowSettings): Promise<Presentation> {
  if (settings.silently) return nothing
  if (settings.group) return (await import('./grouped.ts')).grouped(settings)
  return settings.together ? together(settings) : asTheyCome(settings)
}

const nothing: Presentation = {
  row: async () => undefined,
  take: async () => undefined,
  end: async () => undefined,
}

/** Returns as they come, then the minions that did not return: many with the same reason as one block. */
function asTheyCome(settings: ShowSettings): Presentation {
  const { printer } = settings
  const rows = new Map<string, number>()
  const missing = new Map<string, MinionResult[]>()
  const folds = printer.chosen === undefined && !settings.fullReturn && !settings.eachMissing
  const print = (heading: string, result: MinionResult) =>
    printer.print({ [heading]: shownOf(result, settings) }, printedAs(result, settings))
  return {
    async row({ id, row }) {
      await printer.print({ [id]: row })
      rows.set(id, (rows.get(id) ?? 0) + 1)
    },
    async take(result) {
      if (!isNamed(result, settings)) return
      if (result.state !== 'returned' && folds) {
        const group = missing.get(result.reason)
        if (group) group.push(result)
        else missing.set(result.reason, [result])
      } else if (settings.fullReturn || !isShown(result, rows.get(result.id))) {
        await print(result.id, result)
      }
    },
    async end() {
      for (const group of missing.values()) {
        const ids = group.map(({ id }) => id)
        if (group.length > APART) await print(`${foldedIds(ids)} (${ids.length})`, group[0]!)
        else for (const result of group) await print(result.id, result)
      }
    },
  }
}

/** The number of minions with the same reason that are still shown one by one. */
const APART = 5

/** A return that is nothing but the rows, all of which were shown, is not shown again. */
const isShown = (result: MinionResult, rows: number | undefined): boolean =>
  result.state === 'returned' && Array.isArray(result.return) && result.return.length === rows

function together(settings: ShowSettings): Presentation {
  const results: MinionResult[] = []
  return {
    ...nothing,
    async take(result) {
      if (isNamed(result, settings)) results.push(result)
    },
    async end() {
      const sorted = results.sort((a, b) => (a.id < b.id ? -1 : 1))
      const outs = new Set(sorted.map((result) => (result.state === 'returned' ? result.out : undefined)))
      const outputter = outs.size === 1 && !settings.fullReturn ? [...outs][0] : undefined
      const pairs = sorted.map((result) => [result.id, shownOf(result, settings)])
      await settings.printer.print(Object.fromEntries(pairs), { outputter })
    },
  }
}

const NAMED = 10

function tellTrimmed({ trimmed }: Tally): void {
  for (const [jid, ids] of trimmed)
    tell(
      `WARNING: VALUE_TRIMMED stands for what ${shortList(ids, NAMED)} returned and is too large for an event ` +
        `(max_event_size). Users who may read the master's job cache see all of it: salt-run jobs.lookup_jid ${jid}`,
    )
}

/** So many exit codes are named. */
const CODES = 5

function tellVerdict(
  { total, returned, failures, missing }: Tally,
  { legacy, summary, verbose }: ShowSettings,
): void {
  if (returned === 0) {
    tell('ERROR: No return received')
    return
  }
  if (failures.length > 0) {
    tell(`ERROR: Minions returned with non-zero exit code (${failures.length} of ${total})`)
    const codes = failures.map(({ id, code }) => `${id}: ${code}`)
    if (!legacy && !summary && !verbose) tell(`Exit codes: ${shortList(codes, CODES)}`)
  }
  if (missing.length > 0) tell(`ERROR: Minions did not return (${missing.length} of ${total})`)
}
