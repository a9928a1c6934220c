import { isMinionId } from '../../base/minion-id.ts'
import { isRecord } from '../../base/record.ts'
import { KeyFileStore, KeyFolderTimes, type KeyState, keyStates } from '../../keys/key-files.ts'
import type { Replicated } from './replica.ts'

/** File systems that hosts share may count times in whole seconds. */
const SETTLE_MS = 2_000

/**
 * The keys of minions, by id: one PEM text for each state in which a minion has a key. `onRevoked` is called with the id of a
 * minion whose access another master has revoked.
 */
export function replicatedKeys(pkiDir: string, onRevoked: (id: string) => void): Replicated {
  const files = new KeyFileStore(pkiDir)
  const folders = new KeyFolderTimes(pkiDir, keyStates, SETTLE_MS)
  let known: ReadonlyMap<string, string> = new Map()

  async function stamps(): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const state of keyStates)
      for (const id of await files.list(state))
        found.set(id, `${found.get(id) ?? ''} ${state} ${files.stamp(state, id)}`)
    return found
  }

  async function read(id: string): Promise<Record<string, string> | undefined> {
    if (!isMinionId(id)) return undefined
    const keys: Record<string, string> = {}
    for (const state of keyStates) {
      const pem = await files.read(state, id)
      if (pem !== undefined) keys[state] = pem
    }
    return Object.keys(keys).length > 0 ? keys : undefined
  }

  return {
    name: 'key',
    async changed(all) {
      if (all) known = new Map()
      if (!folders.haveChanged() && !all) return []
      const now = await stamps()
      const ids = [...new Set([...known.keys(), ...now.keys()])].filter((id) => known.get(id) !== now.get(id))
      known = now
      return ids
    },
    read,
    merge,
    async write(id, value, here) {
      if (!isMinionId(id)) return undefined
      const [next, before] = [asKeys(value), asKeys(here)]
      const isText = (pem: unknown): pem is string => typeof pem === 'string'
      // Only states that differ are touched: one that somebody has decided on meanwhile stays. The states come in the order of
      // precedence, so that no key is accepted in between that is not at the end.
      for (const state of keyStates) {
        const pem = next[state]
        if (isText(pem) && pem !== before[state]) await files.replace(state, id, pem)
      }
      for (const state of keyStates.toReversed())
        if (!isText(next[state]) && before[state] !== undefined) await files.remove(state, id)
      if (before.accepted !== undefined && next.accepted !== before.accepted) onRevoked(id)
      return value
    },
  }
}

/**
 * Merge the keys of a minion that were changed on two masters at the same time; undefined stands for deleted keys. A rejection
 * wins over a deletion or an acceptance of the same key, and a deletion over an acceptance. A decision wins over a pending key,
 * which is denied if it is a different one. Of two decisions about different keys, the one from elsewhere wins.
 */
function merge(here: unknown, elsewhere: unknown): unknown {
  const [one, other] = [asKeys(here), asKeys(elsewhere)]
  const isRejectedHere =
    one.rejected !== undefined && (!isRecord(elsewhere) || one.rejected === other.accepted)
  const isDecidedElsewhere = other.rejected !== undefined || other.accepted !== undefined
  const { rejected, accepted } = isDecidedElsewhere && !isRejectedHere ? other : one
  if (rejected === undefined && !(isRecord(here) && isRecord(elsewhere))) return undefined
  if (rejected === undefined && accepted === undefined) return elsewhere
  const others = [other, one].flatMap(({ pending, denied }) => [pending, denied])
  const [denied] = others.filter((pem) => pem !== undefined && pem !== rejected && pem !== accepted)
  return {
    ...(rejected !== undefined && { rejected }),
    ...(accepted !== undefined && { accepted }),
    ...(denied !== undefined && { denied }),
  }
}

const asKeys = (value: unknown): Partial<Record<KeyState, unknown>> => (isRecord(value) ? value : {})
