/** The summary: how many states succeeded, failed and made changes, and their run time. */
import { floatText } from '#internal'
import type { Color } from './_colors.ts'
import type { Look } from './_highstate-values.ts'
import { fixed } from './_python.ts'

export interface Counts {
  readonly byResult: Map<unknown, number>
  changes: number
  warnings: number
  /** Milliseconds of the states that ran one after another; `parallel` has those of concurrent states. */
  readonly durations: number[]
  readonly parallel: number[]
}

/** Columns of the longest label with the separator after it. */
const LABELS = 'Succeeded: '.length

export function summary(host: string, counts: Counts, look: Look): string[] {
  const { colors } = look
  const paint = (color: Color, text: string) => `${colors[color]}${text}${colors.end}`
  const numbers = [...counts.byResult.values(), ...(counts.warnings > 0 ? [counts.warnings] : [])]
  const width = LABELS + Math.max(0, ...numbers.map((number) => String(number).length))
  const row = (label: string, value: string | number) =>
    `${label}: ${String(value).padStart(width - label.length - 2)}`
  const of = (...results: unknown[]) =>
    results.reduce<number>((sum, one) => sum + (counts.byResult.get(one) ?? 0), 0)
  const failed = of(false)
  const failure: Color = failed > 0 ? 'red' : 'cyan'
  const total = [...counts.byResult.values()].reduce((sum, number) => sum + number, 0)
  const percent = (part: number) => floatText(Number(fixed((part / total) * 100, 2)))
  const rule = '-'.repeat(width)
  return [
    paint('cyan', `\nSummary for ${look.safe(host)}\n${rule}`),
    paint('green', row('Succeeded', of(true, null))) + statistics(of(null), counts.changes, paint),
    paint(failure, row('Failed', failed)),
    ...(look.percent && total > 0
      ? [
          paint('green', row('Success %', percent(of(true, null)))),
          paint(failure, row('Failure %', percent(failed))),
        ]
      : []),
    ...(counts.warnings > 0 ? [paint('lightRed', row('Warnings', counts.warnings))] : []),
    paint('cyan', `${rule}\nTotal states run: ${String(total).padStart(width - 7)}`),
    ...(look.profile ? [paint('cyan', runTime(counts, width))] : []),
  ]
}

function statistics(
  unchanged: number,
  changed: number,
  paint: (color: Color, text: string) => string,
): string {
  const parts = [
    ...(unchanged > 0 ? [paint('lightYellow', `unchanged=${unchanged}`)] : []),
    ...(changed > 0 ? [paint('green', `changed=${changed}`)] : []),
  ]
  return parts.length > 0 ? ` (${parts.join(', ')})` : ''
}

/** Return the line with the run time. Of the concurrent states only the longest counts. */
function runTime({ durations, parallel }: Counts, width: number): string {
  const sum =
    durations.reduce((total, one) => total + one, 0) + (parallel.length > 0 ? Math.max(...parallel) : 0)
  const [shown, unit] = sum > 999 ? [sum / 1000, 's'] : [sum, 'ms']
  return `Total run time: ${fixed(shown, 3).padStart(width - 5)} ${unit}`
}
