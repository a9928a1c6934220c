/** Prints equal answers once (`--group`), with the ids of their minions, the most frequent answer first. */
import { createHash } from 'node:crypto'
import { isRecord } from '../../base/record.ts'
import { hasReturned, type MinionResult } from '../../client/index.ts'
import { encodeLocal } from '../../codec/index.ts'
import { foldedIds } from './folded-ids.ts'
import type { Presentation, ShowSettings } from './job-results.ts'
import { isPrinted, printedValue, printOptions } from './printed-result.ts'

/** Minions with equal answers. */
interface Group {
  /** The result of the first of them. */
  readonly result: MinionResult
  readonly ids: string[]
}

/** Outputters for programs. They get a map instead of a heading. */
const STRUCTURED = new Set(['json', 'yaml'])

export function grouped(settings: ShowSettings): Presentation {
  const { printer } = settings
  const groups = new Map<string, Group>()
  return {
    async row({ id, row }) {
      await printer.print({ [id]: row })
    },
    async take(result) {
      if (!isPrinted(result, settings)) return
      const key = keyOf(result)
      const group = groups.get(key)
      if (group) group.ids.push(result.id)
      else groups.set(key, { result, ids: [result.id] })
    },
    async end() {
      const sorted = [...groups.values()].sort(byRank)
      if (STRUCTURED.has(printer.chosen ?? '')) await printer.print({ groups: sorted.map(described) })
      else for (const { result, ids } of sorted) await print(result, ids)
    },
  }

  async function print(result: MinionResult, ids: readonly string[]): Promise<void> {
    const heading = ids.length > 1 ? `${foldedIds(ids)} (${ids.length})` : ids[0]
    await printer.print({ [String(heading)]: printedValue(result, {}) }, printOptions(result, {}))
  }
}

/** Sort by frequency, with minions that did not return last. */
function byRank(a: Group, b: Group): number {
  const missing = (group: Group) => Number(!hasReturned(group.result))
  return missing(a) - missing(b) || b.ids.length - a.ids.length || (a.result.id < b.result.id ? -1 : 1)
}

/** Return `{ids, minions, count, state, reason}`, and for returns `retcode`, `success` and `return`. */
function described({ result, ids }: Group): Record<string, unknown> {
  const { jobState: state, why: reason } = result
  const about = { ids: foldedIds(ids), minions: [...ids].sort(), count: ids.length, state, reason }
  if (!hasReturned(result)) return about
  const { retcode, success, return: value } = result
  return { ...about, retcode, success, return: value }
}

/** Return a hash that is equal for equal answers, whatever the order of keys in their maps. */
function keyOf(result: MinionResult): string {
  const parts = hasReturned(result)
    ? [result.jobState, result.retcode, result.out, ordered(result.return)]
    : [result.state, result.jobState, result.reason]
  return createHash('sha256').update(encodeLocal(parts)).digest('base64')
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item)]))
}
