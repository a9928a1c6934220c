/** Asks a fleet for the documentation of its functions. */
import { untyped } from '../../author/calls.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { connections } from '../../cache/connected.ts'
import { hasReturned, LocalClient } from '../../client/index.ts'
import type { MasterConfig } from '../../config/index.ts'

/** The documentation of a function, as a minion gives it. */
interface FunctionDoc {
  readonly doc?: string
  /** Descriptions of parameters by name. */
  readonly descriptions?: Readonly<Record<string, string>>
}

/** Minions that offer the same functions. */
interface Alike {
  readonly ids: readonly string[]
  readonly python: boolean
}

export interface FleetDocs<G> {
  readonly docs: ReadonlyMap<G, ReadonlyMap<string, FunctionDoc>>
  /** Why there is none, if nobody could be asked. */
  readonly note?: string
}

const DOC_SECONDS = 15
/** Longest documentation of a function, and description of a parameter; the rest is left out. */
const MAX_DOC_LENGTH = 20_000
const MAX_DESCRIPTION_LENGTH = 1000

/** Ask one connected minion of each group for the documentation of its functions. */
export async function fleetDocs<G extends Alike>(
  config: MasterConfig,
  groups: readonly G[],
): Promise<FleetDocs<G>> {
  const docs = new Map<G, ReadonlyMap<string, FunctionDoc>>()
  if (groups.length === 0) return { docs }
  const lost = new Set((await connections(config))?.lost)
  const asked = new Map(groups.map((group) => [group.ids.find((id) => !lost.has(id)) ?? '', group]))
  asked.delete('')
  try {
    const client = await LocalClient.connect(config)
    try {
      for (const python of [false, true]) {
        const tgt = [...asked].filter(([, group]) => group.python === python).map(([id]) => id)
        if (tgt.length === 0) continue
        for await (const result of await client.cmdIter(request(tgt, python))) {
          const group = asked.get(result.id)
          if (group && hasReturned(result)) docs.set(group, docsIn(result.return, python))
        }
      }
    } finally {
      await client.close()
    }
    return { docs }
  } catch (error) {
    const note = `The functions have no documentation, since no minion could be asked for it: ${messageOf(error)}`
    return { docs, note }
  }
}

/** Minions of Python Salt have no `sys.schema`. */
const request = (tgt: readonly string[], python: boolean) =>
  ({
    tgt,
    tgtType: 'list',
    timeout: DOC_SECONDS,
    fun: untyped(python ? 'sys.doc' : 'sys.schema'),
  }) as const

function docsIn(answer: unknown, python: boolean): Map<string, FunctionDoc> {
  const entries = isRecord(answer) ? Object.entries(answer) : []
  return new Map(entries.map(([name, told]) => [name, python ? docOf(told) : describedBy(told)]))
}

const docOf = (doc: unknown): FunctionDoc =>
  typeof doc === 'string' ? { doc: doc.slice(0, MAX_DOC_LENGTH) } : {}

function describedBy(schema: unknown): FunctionDoc {
  if (!isRecord(schema)) return {}
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : []
  const descriptions = properties.flatMap(([name, inner]) =>
    isRecord(inner) && typeof inner.description === 'string'
      ? [[name, inner.description.slice(0, MAX_DESCRIPTION_LENGTH)] as const]
      : [],
  )
  return { ...docOf(schema.description), descriptions: Object.fromEntries(descriptions) }
}
