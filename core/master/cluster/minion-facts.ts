import { isMinionId } from '../../base/minion-id.ts'
import { isRecord } from '../../base/record.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import type { KnownStart, MinionStarts } from '../../cache/minion-starts.ts'
import { readStartReport } from '../../wire/minion-start.ts'
import type { Replicated } from './replica.ts'

/** Grains and pillar of minions, by id. */
export function replicatedFacts(data: MinionData): Replicated {
  let count: number | undefined
  return {
    kind: 'facts',
    async changed(all) {
      const { changes, since } = data.changedSince(count)
      count = changes
      return all || !since ? data.ids() : since
    },
    async read(id) {
      const [grains, pillar] = [data.grains(id), data.pillar(id)]
      return grains || pillar ? { ...(grains && { grains }), ...(pillar && { pillar }) } : undefined
    },
    async write(id, value) {
      if (!isMinionId(id)) return
      if (!isRecord(value)) return data.remove(id)
      const { grains, pillar } = value
      await data.save(id, { ...(isRecord(grains) && { grains }), ...(isRecord(pillar) && { pillar }) })
    },
  }
}

/** How often the starts of all minions are compared with those known. */
const LOOK_MS = 5_000

/** The latest starts of minions, by id: with them each master knows to whom a connection belongs. */
export function replicatedStarts(starts: MinionStarts): Replicated {
  let known: ReadonlyMap<string, string> = new Map()
  let lookAt = 0
  return {
    kind: 'starts',
    async changed(all) {
      if (performance.now() < lookAt && !all) return []
      lookAt = performance.now() + LOOK_MS
      const now = new Map(starts.ids().map((id) => [id, starts.of(id).at(-1)?.token ?? '']))
      const ids = [...now].filter(([id, token]) => all || known.get(id) !== token).map(([id]) => id)
      known = now
      return ids
    },
    async read(id) {
      const all = starts.of(id)
      return all.length > 0 ? all : undefined
    },
    async write(id, value) {
      if (!isMinionId(id) || !Array.isArray(value)) return
      for (const start of value.map(readStart)) if (start) await starts.save(id, start, start.at)
    },
  }
}

function readStart(value: unknown): KnownStart | undefined {
  const start = readStartReport({ start: value })
  const at = isRecord(value) ? value.at : undefined
  return start && typeof at === 'number' ? { ...start, at } : undefined
}
