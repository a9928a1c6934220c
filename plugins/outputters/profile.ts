/** A table of how long each state took, shortest first. */
import { outputter } from 'salt-ts'
import { isMapping, membersOf } from './_highstate-values.ts'
import { nested } from './_nested.ts'
import { fixed, strOf } from './_python.ts'
import { table } from './_table.ts'
import { compare, entriesOf, kindOf, lengthOf, listOf } from './_values.ts'

const MAX_NAME_LENGTH = 60
const HEADER = 'duration (ms)'

export default outputter({
  render(value, options) {
    const found = isMapping(value)
      ? entriesOf(value).flatMap(([, states]) => statesOf(states) ?? [undefined])
      : [undefined]
    if (found.includes(undefined)) return nested(value, options)
    const states = (found as Timed[]).sort(
      (a, b) => a.duration - b.duration || compare(a.name, b.name) || compare(a.fun, b.fun),
    )
    const width = Math.max(HEADER.length, ...states.map(({ duration }) => fixed(duration, 4).length))
    const rows = states.map(({ name, fun, duration }) => [name, fun, fixed(duration, 4).padStart(width)])
    const shown = { labels: ['name', 'mod.fun', HEADER], rows }
    return table(shown, { ...options, rows_key: 'rows', labels_key: 'labels' })
  },
})

interface Timed {
  readonly name: string
  readonly fun: string
  /** Milliseconds; -1 if the state has none. */
  readonly duration: number
}

/** Return the states; undefined if the value has none. */
function statesOf(states: unknown): (Timed | undefined)[] | undefined {
  if (isMapping(states)) return entriesOf(states).map(([id, state]) => timed(strOf(id), state))
  if (kindOf(states) === 'list') return listOf(states).map((id) => timed(strOf(id), {}))
  return kindOf(states) === 'text' ? [...(states as string)].map((id) => timed(id, {})) : undefined
}

function timed(id: string, state: unknown): Timed | undefined {
  const members = isMapping(state) ? membersOf(state) : new Map<unknown, unknown>([['name', id]])
  const name = members.has('name') ? members.get('name') : members.get('__id__')
  const duration = Number(members.get('duration') ?? -1)
  if (Number.isNaN(duration) || !['text', 'null'].includes(kindOf(name))) return undefined
  const parts = id.split('_|-')
  return { name: shortened((name as string | null) ?? '<>'), fun: `${parts[0]}.${parts.at(-1)}`, duration }
}

function shortened(name: string): string {
  return lengthOf(name) > MAX_NAME_LENGTH ? `${[...name].slice(0, MAX_NAME_LENGTH - 3).join('')}...` : name
}
