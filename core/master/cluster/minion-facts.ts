import { isMinionId } from '../../base/minion-id.ts'
import { type Fields, isRecord } from '../../base/record.ts'
import type { MinionData, MinionFacts } from '../../cache/minion-data.ts'
import { type KnownStart, latestStarts, type MinionStarts } from '../../cache/minion-starts.ts'
import { readStartReport } from '../../wire/minion-start.ts'
import type { Replicated } from './replica.ts'

/** Grains and pillar of minions, by id. */
export function replicatedFacts(data: MinionData): Replicated {
  let count: number | undefined
  return {
    name: 'facts',
    async changed(all) {
      const { changes, since } = data.changedSince(count)
      count = changes
      return all || !since ? data.ids() : since
    },
    async read(id) {
      const facts = factsIn({ grains: data.grains(id), pillar: data.pillar(id) })
      return facts.grains || facts.pillar ? facts : undefined
    },
    async write(id, value) {
      if (!isMinionId(id)) return undefined
      if (!isRecord(value)) return void (await data.remove(id))
      const facts = factsIn(value)
      await data.save(id, facts)
      return { ...factsIn({ grains: data.grains(id), pillar: data.pillar(id) }), ...facts }
    },
  }
}

const factsIn = ({ grains, pillar }: Fields): MinionFacts => ({
  ...(isRecord(grains) && { grains }),
  ...(isRecord(pillar) && { pillar }),
})

/** How often the starts of all minions are compared with those known. */
const CHECK_INTERVAL_MS = 5_000

/** The latest starts of minions, by id. By their tokens each master knows the minion behind a connection. */
export function replicatedStarts(starts: MinionStarts): Replicated {
  let known: ReadonlyMap<string, string> = new Map()
  let nextCheckAt = 0
  return {
    name: 'starts',
    async changed(all) {
      if (performance.now() < nextCheckAt && !all) return []
      nextCheckAt = performance.now() + CHECK_INTERVAL_MS
      const now = new Map(starts.ids().map((id) => [id, tokensOf(starts.of(id))]))
      const ids = [...now].filter(([id, tokens]) => all || known.get(id) !== tokens).map(([id]) => id)
      known = now
      return ids
    },
    async read(id) {
      const all = starts.of(id)
      return all.length > 0 ? all : undefined
    },
    async write(id, value) {
      if (!isMinionId(id)) return undefined
      await starts.add(id, readStarts(value))
      return starts.of(id)
    },
    merge: (here, elsewhere) => latestStarts([...readStarts(here), ...readStarts(elsewhere)]),
  }
}

const tokensOf = (starts: readonly KnownStart[]): string => starts.map(({ token }) => token).join(' ')

const readStarts = (value: unknown): KnownStart[] =>
  Array.isArray(value) ? value.map(readStart).filter((start) => start !== undefined) : []

function readStart(value: unknown): KnownStart | undefined {
  const start = readStartReport({ start: value })
  const at = isRecord(value) ? value.at : undefined
  return start && typeof at === 'number' ? { ...start, at } : undefined
}
