/** Shows results of states as text: hosts, their states in the order they ran, and a summary. */
import type { OutputOptions } from 'salt-ts'
import type { Color } from './_colors.ts'
import { compressIds } from './_compress-ids.ts'
import { type StateLook, showState } from './_highstate-state.ts'
import { type Counts, summary } from './_highstate-summary.ts'
import {
  isMapping,
  isTrue,
  type Look,
  lookOf,
  membersOf,
  millisecondsOf,
  NoStates,
  needed,
} from './_highstate-values.ts'
import { nested } from './_nested.ts'
import { pformat } from './_pprint.ts'
import { strOf } from './_python.ts'
import { entriesOf, kindOf, linesOf, listOf } from './_values.ts'

export const highstate = (value: unknown, options: OutputOptions): string => hosts(value, lookOf(options), 1)

/** Show the hosts. `level` is 1, and higher for what an orchestration ran. */
function hosts(value: unknown, look: Look, level: number): string {
  const data = unwrapped(value)
  if (kindOf(data) === 'text') return data as string
  if (kindOf(data) === 'null') return 'None'
  if (!isMapping(data)) throw new NoStates()
  const entries = withoutRetcode(entriesOf(data))
  const shown = look.compress ? compressIds(entries) : entries
  return shown.map(([host, states]) => showHost(strOf(host), states, look, level).text).join('\n')
}

/** Remove the envelope of a return, of a runner's result, or of a job that was looked up. */
function unwrapped(value: unknown): unknown {
  let data = value
  for (const name of ['return', 'data']) if (isMapping(data)) data = membersOf(data).get(name) ?? data
  if (!isMapping(data) || entriesOf(data).length !== 1) return data
  const only = entriesOf(data)[0]?.[1]
  if (!isMapping(only)) return data
  const members = membersOf(only)
  if (!members.has('jid') || !members.has('fun')) return data
  const returned = members.get('return')
  return isMapping(returned) ? (membersOf(returned).get('data') ?? data) : data
}

function withoutRetcode(entries: [unknown, unknown][]): [unknown, unknown][] {
  if (!entries.every(([key]) => typeof key === 'string')) throw new NoStates()
  const masters = entries.filter(([key]) => (key as string).endsWith('_master'))
  return masters.length === 1 ? entries.filter(([key]) => key !== 'retcode') : entries
}

interface Shown {
  readonly text: string
  readonly changed: boolean
}

function showHost(host: string, data: unknown, look: Look, level: number): Shown {
  const { colors, safe } = look
  const kind = kindOf(data)
  const titled = (color: Color, lines: readonly string[], changed: boolean): Shown => ({
    text: [`${colors[color]}${safe(host)}:${colors.end}`, ...lines].join('\n'),
    changed,
  })
  if (kind === 'map') return showStates(host, data, look, level, titled)
  if (kind === 'list') return titled('lightRed', errors(listOf(data), look), false)
  const isPlain = kind === 'int' || kind === 'bool' || kind === 'text'
  if (!isPlain) return titled('green', [], false)
  const lines = linesOf(strOf(data)).map((line) => `${colors.green}    ${safe(line)}${colors.end}`)
  return titled('cyan', lines, true)
}

function errors(list: readonly unknown[], { colors, safe }: Look): string[] {
  const { lightRed: red, end } = colors
  return [
    `    ${red}Data failed to compile:${end}`,
    ...list.map((error) => `${red}----------\n    ${safe(strOf(error))}${end}`),
  ]
}

const NO_ORDER =
  'The State execution failed to record the order in which all states were executed. The state return missing data is:'

function showStates(
  host: string,
  data: unknown,
  look: Look,
  level: number,
  titled: (color: Color, lines: readonly string[], changed: boolean) => Shown,
): Shown {
  const counts: Counts = { byResult: new Map(), changes: 0, warnings: 0, durations: [], parallel: [] }
  const warned = entriesOf(data).filter(
    ([name, info]) =>
      isMapping(info) && name !== 'changes' && isTrue(info) && !membersOf(info).has('__run_num__'),
  )
  const lines = warned.reverse().flatMap(([, info]) => [NO_ORDER, pformat(info)])
  let title: Color = 'green'
  for (const [name, state] of inOrder(data)) {
    const result = needed(state, 'result')
    const count = countOf(name, look)
    const counted = asBoolean(result)
    counts.byResult.set(counted, (counts.byResult.get(counted) ?? 0) + count)
    addDuration(counts, state)
    const { text, changed } = changesOf(state, look, level)
    if (changed) counts.changes += count > 1 ? compressedChanges(state) : 1
    if (isTrue(result) && !changed && (look.diff || !look.verbose)) continue
    if (result === false) title = 'red'
    if (result === null) title = 'lightYellow'
    const stateLook: StateLook = { ...look, color: colorOf(result, changed), changed, changes: text }
    const { lines: own, full } = showState(name, state, stateLook)
    lines.push(...own)
    if (full && state.has('warnings')) counts.warnings++
  }
  return titled(title, [...lines, ...summary(host, counts, look)], counts.changes > 0)
}

/** Turn 1 and 0 into booleans: in Python 1 and True are the same key of a map. */
function asBoolean(result: unknown): unknown {
  const kind = kindOf(result)
  if (kind !== 'int' && kind !== 'float') return result
  return Number(result) === 1 ? true : Number(result) === 0 ? false : result
}

function inOrder(data: unknown): [string, Map<unknown, unknown>][] {
  const states = entriesOf(data)
    .filter(([, info]) => isMapping(info))
    .map(([name, info]): [string, Map<unknown, unknown>] => [strOf(name), membersOf(info)])
    .filter(([, state]) => state.has('result'))
  const place = (state: Map<unknown, unknown>) => Number(state.get('__run_num__') ?? 0)
  return states.sort(([, a], [, b]) => place(a) - place(b))
}

function colorOf(result: unknown, changed: boolean): Color {
  if (result === false) return 'red'
  if (result === null) return 'lightYellow'
  return changed ? 'cyan' : 'green'
}

/** Return how many states were compressed into this one. */
function countOf(name: string, { compress }: Look): number {
  if (!compress || !name.includes('_|-state_compressed_')) return 1
  return Number(/\((\d+)\)$/.exec(name.split('_|-')[1] ?? '')?.[1] ?? 1)
}

function compressedChanges(state: ReadonlyMap<unknown, unknown>): number {
  const all = membersOf(state.get('changes')).get('compressed changes')
  return (isMapping(all) && entriesOf(all).length) || 1
}

function addDuration(counts: Counts, state: ReadonlyMap<unknown, unknown>): void {
  const duration = millisecondsOf(state.get('duration'))
  if (duration !== undefined) (state.has('__parallel__') ? counts.parallel : counts.durations).push(duration)
}

const ORCHESTRATION = new Set<unknown>(['state.orch', 'state.orchestrate', 'state.sls'])
const MARGIN = 14

function changesOf(state: ReadonlyMap<unknown, unknown>, look: Look, level: number): Shown {
  const changes = needed(state, 'changes')
  if (ORCHESTRATION.has(state.get('name'))) {
    const text = `\n${hosts(changes, look, level + 1)}`
    return { text: text.replace(/^/gm, ' '.repeat(MARGIN * level)), changed: true }
  }
  if (!isTrue(changes)) return { text: '', changed: false }
  if (!isMapping(changes)) return { text: `Invalid Changes data: ${strOf(changes)}`, changed: true }
  const members = membersOf(changes)
  const inner = members.get('ret')
  if (kindOf(inner) === 'null' || members.get('out') !== 'highstate')
    return { text: `\n${nested(changes, { ...look.options, retcode: 0 }, MARGIN)}`, changed: true }
  if (!isMapping(inner)) throw new NoStates()
  const shown = entriesOf(inner).map(([host, states]) => showHost(strOf(host), states, look, 1))
  const text = shown.map(
    (one) =>
      `\n${linesOf(one.text)
        .map((line) => ' '.repeat(MARGIN) + line)
        .join('\n')}`,
  )
  return { text: text.join(''), changed: shown.some(({ changed }) => changed) }
}
