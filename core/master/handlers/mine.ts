import { readMineAccess } from '../../auth/index.ts'
import { messageOf } from '../../base/errors.ts'
import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import { type MineEntry, mineOf } from '../../cache/mine.ts'
import type { EncryptedHandler, Sender } from '../../channel/request-server.ts'
import { withMatchBudget } from '../../dialect/python-regexp.ts'
import {
  certainMinions,
  expandTarget,
  expectedMinions,
  MATCH_BUDGET_MS,
  type Target,
} from '../../targets/index.ts'
import { readMineUpdate } from '../../wire/mine.ts'
import type { WorkerContext } from '../worker/context.ts'
import { peerTargetRefusal } from './peer-target.ts'

type Load = Readonly<Record<string, unknown>>

/**
 * `_mine`, `_mine_get`, `_mine_delete`, `_mine_flush` (wire protocol §7.2): minions keep values with the master and get those of others.
 * Their keys must prove their ids. A replayed request changes nothing.
 */
export function mineHandlers(context: WorkerContext): [string, EncryptedHandler][] {
  const { clock, config, log, mine } = context
  const mayGet = readMineAccess(config.mine_get, (sentence) => log.error(sentence))

  async function store(load: Load, id: MinionId): Promise<boolean> {
    const update = readMineUpdate(load)
    if (typeof update === 'string') {
      log.warn(`The data that ${id} sent for its mine is not stored: ${update}.`)
      return false
    }
    const at = clock.now()
    const entries = new Map([...update.values].map(([name, value]) => [name, { ...value, at }]))
    await mine.put(id, entries, update.clear)
    return true
  }

  async function get(load: Load, id: MinionId): Promise<Load> {
    try {
      const isAllowed = (name: string, entry: MineEntry) => mayGet(id, name) && isFor(context, id, entry)
      const ids = await minionsOf(context, load)
      return withMatchBudget(MATCH_BUDGET_MS, () => mineOf(mine, ids, load.fun, isAllowed))
    } catch (error) {
      log.warn(`${id} gets nothing from the mine: ${messageOf(error)}`)
      return {}
    }
  }

  const change =
    (make: (load: Load, id: MinionId) => Promise<unknown>): EncryptedHandler =>
    async (load, sender) => {
      const id = provedId(sender)
      if (!id) return false
      if (!(await context.replays.firstTime(sender.fingerprint))) return true
      return make(load, id)
    }
  return [
    ['_mine', change(store)],
    [
      '_mine_get',
      async (load, sender) => {
        const id = provedId(sender)
        return id ? get(load, id) : {}
      },
    ],
    [
      '_mine_delete',
      change(async ({ fun }, id) => {
        if (typeof fun !== 'string') return false
        await mine.remove(id, [fun])
        return true
      }),
    ],
    [
      '_mine_flush',
      change(async (_, id) => {
        await mine.remove(id)
        return true
      }),
    ],
  ]
}

const provedId = ({ id, verified }: Sender): MinionId | undefined =>
  verified && isMinionId(id) ? id : undefined

/** Return the minions that have an accepted key and certainly match a target. */
async function minionsOf(
  { config, keys, matcher, minions }: WorkerContext,
  { tgt, tgt_type, expr_form }: Load,
): Promise<string[]> {
  const target: Target = { tgt, tgt_type: String(tgt_type ?? expr_form ?? 'glob') }
  const refusal = peerTargetRefusal(target)
  if (refusal !== undefined) throw new Error(refusal)
  const expanded = await expandTarget(target, { config })
  return certainMinions(expectedMinions(expanded, cachedMinions(await keys.minions(), minions), matcher))
}

/** Whether a value is for a minion. */
function isFor({ matcher, minions }: WorkerContext, id: MinionId, { allow }: MineEntry): boolean {
  if (!allow) return true
  const [subject] = cachedMinions([id], minions)
  return subject !== undefined && matcher.match(allow, subject) === true
}
