/** Salt's `state_compress_ids`: states of one id with the same result become one state, whatever their names. */
import { isMapping, membersOf } from './_highstate-values.ts'
import { fixed, strOf } from './_python.ts'
import { compare, entriesOf } from './_values.ts'

type Entries = [unknown, unknown][]

/** Return the hosts with compressed states, or unchanged if a state lacks something needed for that. */
export function compressIds(hosts: Entries): Entries {
  try {
    return hosts.every(([, states]) => isMapping(states))
      ? hosts.map(([host, states]) => [host, compressed(entriesOf(states))])
      : hosts
  } catch {
    return hosts
  }
}

function compressed(states: Entries): Map<string, unknown> {
  const keys = states.map(([name, state]) => keyOf(strOf(name), state))
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  const all = new Map<string, unknown>()
  states.forEach(([name, state], n) => {
    const count = counts.get(keys[n] as string) as number
    const shown = count === 1 ? strOf(name) : rolledName(strOf(name), state, count)
    const first = all.get(shown)
    all.set(shown, first === undefined ? state : merged(membersOf(first), membersOf(state)))
  })
  return all
}

function keyOf(name: string, state: unknown): string {
  return [
    name.split('_|-')[0],
    ...['__id__', '__sls__', 'result'].map((part) => strOf(member(state, part))),
  ].join('_')
}

function rolledName(name: string, state: unknown, count: number): string {
  const parts = name.split('_|-')
  const id = strOf(member(state, '__id__'))
  parts[1] = `${id} (${count})`
  parts[2] = ['state_compressed', strOf(member(state, '__sls__')), id, strOf(member(state, 'result'))].join(
    '_',
  )
  return parts.join('_|-')
}

function member(state: unknown, name: string): unknown {
  const members = membersOf(state)
  if (!members.has(name)) throw new Error(`no ${name}`)
  return members.get(name)
}

/** Merge two states: the earlier run number and start time, the sum of the durations, and the changes of both by name. */
function merged(first: Map<unknown, unknown>, next: Map<unknown, unknown>): Map<unknown, unknown> {
  const both = new Map(first)
  const number = (state: Map<unknown, unknown>, name: string) => Number(member(state, name))
  both.set('__run_num__', Math.min(number(next, '__run_num__'), number(first, '__run_num__')))
  both.set('duration', Number(fixed(number(next, 'duration') + number(first, 'duration'), 3)))
  const [start, other] = [member(first, 'start_time'), member(next, 'start_time')]
  both.set('start_time', compare(start, other) <= 0 ? start : other)
  if (hasChanges(next)) both.set('changes', mergedChanges(first, next))
  return both
}

const hasChanges = (state: Map<unknown, unknown>): boolean => {
  const changes = state.get('changes')
  return isMapping(changes) && entriesOf(changes).length > 0
}

function mergedChanges(first: Map<unknown, unknown>, next: Map<unknown, unknown>): unknown {
  const own: Entries = hasChanges(first) ? [[first.get('name'), first.get('changes')]] : []
  const rolled = hasChanges(first) ? membersOf(first.get('changes')).get('compressed changes') : undefined
  const all = new Map([
    ...(isMapping(rolled) ? entriesOf(rolled) : own),
    [next.get('name'), next.get('changes')],
  ] as Entries)
  return new Map([['compressed changes', all]])
}
