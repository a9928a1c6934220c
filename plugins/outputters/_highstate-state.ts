/** The display of one state: as a block, or on one line. */
import type { Color } from './_colors.ts'
import { isTrue, type Look, NoStates, needed } from './_highstate-values.ts'
import { strip, strOf } from './_python.ts'
import { fill } from './_textwrap.ts'
import { entriesOf, kindOf, listOf } from './_values.ts'

export interface StateLook extends Look {
  readonly color: Color
  readonly changed: boolean
  /** Changes as text. */
  readonly changes: string
}

type State = ReadonlyMap<unknown, unknown>

/** Show a state. `full` is true if it is shown as a block. */
export function showState(name: string, state: State, look: StateLook): { lines: string[]; full: boolean } {
  const parts = name.split('_|-')
  if (parts.length < 4) throw new NoStates()
  if (look.output.endsWith('_id')) parts[2] = parts[1] as string
  const shown = parts.map((part) => look.safe(part))
  const form = formOf(state, look)
  if (form === 'terse') return { lines: [terse(shown, state, look)], full: false }
  return form === 'full' ? { lines: block(shown, state, look), full: true } : { lines: [], full: false }
}

function formOf(state: State, { output, options, changed }: StateLook): 'full' | 'terse' | 'none' {
  const result = state.get('result')
  if (output.startsWith('filter')) {
    if (wordsOf(options.state_output_terse).includes(strOf(result))) return 'terse'
    return wordsOf(options.state_output_exclude).includes(strOf(result)) ? 'none' : 'full'
  }
  const isTerse =
    output.startsWith('terse') ||
    (output.startsWith('mixed') && result !== false) ||
    (output.startsWith('changes') && isTrue(result) && !changed)
  return isTerse ? 'terse' : 'full'
}

/** Results by name, as a list or as text with commas. */
function wordsOf(option: unknown): string[] {
  if (typeof option === 'string') return option.split(',')
  return kindOf(option) === 'list' ? listOf(option).map(strOf) : []
}

const MARGIN = ' '.repeat(14)

function block([module, id, name, fun]: readonly string[], state: State, look: StateLook): string[] {
  const { colors, color, profile } = look
  const line = (label: string, text: string) =>
    `    ${colors[color]}${label.padStart(8)}: ${text}${colors.end}`
  return [
    `${colors[color]}----------${colors.end}`,
    line('ID', id as string),
    line('Function', `${module}.${fun}`),
    ...(id === name ? [] : [line('Name', name as string)]),
    line('Result', strOf(state.get('result'))),
    line('Comment', look.safe(commentOf(state))),
    ...(profile && state.has('start_time')
      ? [line('Started', strOf(state.get('start_time'))), line('Duration', durationOf(state))]
      : []),
    `${colors[color]}     Changes:   ${look.changes}${colors.end}`,
    ...warningsOf(state, look),
  ]
}

function durationOf(state: State): string {
  const duration = state.get('duration')
  return duration === undefined || duration === '' ? '' : `${strOf(duration)} ms`
}

function commentOf(state: State): string {
  const comment = strip(strOf(needed(state, 'comment'))).replaceAll('\n', `\n${MARGIN}`)
  if (!state.has('data')) return comment
  const data = state.get('data')
  const kind = kindOf(data)
  if (kind === 'list') return [comment, ...listOf(data).map(strOf)].join(' ')
  if (kind !== 'map') return `${comment} ${strOf(data)}`
  return (
    comment +
    entriesOf(data)
      .map(([key, value]) => `\n\t\t${strOf(key)}: ${strOf(value)}`)
      .join('')
  )
}

function warningsOf(state: State, { colors, safe }: Look): string[] {
  if (!state.has('warnings')) return []
  const text = fill(safe(textsOf(state.get('warnings')).join('\n')), 80, MARGIN)
  return [`   ${colors.lightRed} Warnings: ${text.trimStart()}${colors.end}`]
}

function textsOf(warnings: unknown): string[] {
  if (typeof warnings === 'string') return [...warnings]
  if (kindOf(warnings) !== 'list' || !listOf(warnings).every((text) => typeof text === 'string'))
    throw new NoStates()
  return listOf(warnings) as string[]
}

const SENTENCE = ' {0} Name: {1} - Function: {2}.{3} - Result: {4}'
const SENTENCE_TIMES = ' - Started: {6[start_time]!s} - Duration: {6[duration]!s} ms'
const TABLE_TIMES = '{6[start_time]!s} [{6[duration]!s:>7} ms] '
const TABLE = '{2:>10}.{3:<10} {4:7}   Name: {1}{5}'

function terse(parts: readonly string[], state: State, look: StateLook): string {
  const { colors, color, profile, tabular } = look
  const times = profile && state.has('start_time')
  const form =
    typeof tabular === 'string'
      ? tabular
      : tabular
        ? `{0}${times ? TABLE_TIMES : ''}${TABLE}`
        : `${SENTENCE}${times ? SENTENCE_TIMES : ''}{5}`
  const values = [colors[color], parts[2], parts[0], parts.at(-1), verdictOf(state), colors.end]
  return terseWarnings(state, look) + formatted(form, values, state)
}

function terseWarnings(state: State, { colors, tabular, safe }: Look): string {
  if (!state.has('warnings') || typeof tabular === 'string') return ''
  const text = safe(textsOf(state.get('warnings')).join('\n'))
  return `${colors.lightRed}Warnings:\n${text}${colors.end}${tabular ? '\n' : ''}`
}

function verdictOf(state: State): string {
  const result = state.get('result')
  if (result === false) return 'Failed'
  if (result === null) return 'Differs'
  return isTrue(state.get('changes')) ? 'Changed' : 'Clean'
}

/** Fill in the values: `{4:>10}` is the fifth value in ten columns, `{6[duration]}` a member of the state. */
function formatted(form: string, values: readonly (string | undefined)[], state: State): string {
  return form.replace(
    /\{(\d)(?:\[(\w+)\])?(?:!s)?(?::([<>]?)(\d+))?\}/g,
    (_, place: string, member: string | undefined, side: string | undefined, width = '0') => {
      const text = member === undefined ? (values[Number(place)] ?? '') : strOf(needed(state, member))
      return side === '>' ? text.padStart(Number(width)) : text.padEnd(Number(width))
    },
  )
}
