/** Read what minions share with each other (Salt's mine), and let them update it. */
import { fn, p } from 'salt-ts'
import { tgt, tgt_type } from './_target.ts'

/**
 * Return values of minions: id → value, or for several functions (a list, or text with commas) function → id → value. The minions are
 * not contacted.
 *
 * @example salt-run mine.get '*' test.ping
 */
export const get = fn(
  { tgt, fun: p.any({ description: 'A name, names with commas, or a list of names.' }), tgt_type },
  async ({ tgt, fun, tgt_type }, { master }) =>
    master.mine.get((await master.match(tgt, tgt_type)).minions, fun),
)

/**
 * List what minions have in the mine, and when it was stored: id → name → time in UTC.
 *
 * @example salt-run mine.list '*'
 */
export const list = fn({ tgt: p.default(tgt, '*'), tgt_type }, async ({ tgt, tgt_type }, { master }) => {
  const entries = await master.mine.entries((await master.match(tgt, tgt_type)).minions)
  const times = Object.entries(entries).map(([id, values]) => [
    id,
    Object.fromEntries(Object.entries(values).map(([name, { updated }]) => [name, updated])),
  ])
  return Object.fromEntries(times)
})

/**
 * Let minions update their values now, as `mine.update` does. Returns id → result.
 *
 * @example salt-run mine.update '*'
 */
export const update = fn(
  {
    tgt,
    tgt_type,
    clear: p.default(p.boolean(), false),
    mine_functions: p.optional(p.any()),
  },
  async ({ tgt, tgt_type: tgtType, clear, mine_functions }, { master }) => {
    const returns: Record<string, unknown> = {}
    const kwarg = { clear, ...(mine_functions !== undefined && { mine_functions }) }
    for await (const result of master.run({ tgt, tgtType, fun: 'mine.update', kwarg }))
      if (result.missing === undefined) returns[result.id] = result.return
    return returns
  },
)
