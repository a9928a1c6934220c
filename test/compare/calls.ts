/** Lists of calls to compare. */
import { shellWords } from '../../core/loader/check/shell-words.ts'
import type { Depth } from './answer.ts'
import type { Places } from './servers.ts'

export interface Call {
  /** The line of the list. */
  readonly line: string
  readonly words: readonly string[]
  readonly depth: Depth
  /** docs/limits.md says that salt-ts answers otherwise. */
  readonly isMeant: boolean
}

/** Return the groups of calls in a list. The calls of a group follow each other in one folder. */
export const groupsOf = (list: string, places: Places): Call[][] =>
  list
    .split(/\n\s*\n/)
    .map((group) => group.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => callOf(line, places)))

const DEPTHS: Readonly<Record<string, Depth>> = { '': 'value', '~': 'kinds', '~~': 'kind' }

function callOf(line: string, places: Places): Call {
  const [, meant, depth = '', command = ''] = /^(!?)(~{0,2})\s*(.*)$/.exec(line) ?? []
  const words = shellWords(command.replaceAll(/\{(\w+)\}/g, (whole, name: string) => places[name] ?? whole))
  if (words === undefined) throw new Error(`This line is no command: ${line}`)
  return { line, words, depth: DEPTHS[depth] ?? 'value', isMeant: meant !== '' }
}
