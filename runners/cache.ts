/** The master's cache: data of minions, and values that users store. */
import { CommandExecutionError, type Context, fn, p, type TargetExpression } from 'salt-ts'
import { tgt, tgt_type } from './_target.ts'

const all = { tgt: p.default(tgt, '*'), tgt_type }
/** Without a target, nothing is cleared. */
const named = { tgt: p.optional(tgt), tgt_type }
type Target = { readonly tgt?: TargetExpression | undefined; readonly tgt_type: string }

const place = { bank: p.string({ minLength: 1 }), key: p.string({ minLength: 1 }) }
/** In Salt, localfs keeps banks in a directory that may be given; salt-ts has one store. */
const cachedir = p.optional(p.described(p.string(), 'Has no effect: there is one cache.'))

/**
 * Return the cached grains of minions: id → grains. The minions are not contacted.
 *
 * @example salt-run cache.grains 'web*'
 */
export const grains = fn({ tgt, tgt_type }, (target, { master }) => cached(master, target, 'grains'))

/**
 * Return the cached pillar of minions: id → pillar.
 *
 * @example salt-run cache.pillar 'web*'
 */
export const pillar = fn(all, (target, { master }) => cached(master, target, 'pillar'))

/**
 * Delete the cached grains of minions. Returns true if there were any.
 *
 * @example salt-run cache.clear_grains tgt='web*'
 */
export const clear_grains = fn(named, (target, { master }) => clear(master, target, ['grains']))

/**
 * Delete the cached pillar of minions. Returns true if there was any.
 *
 * @example salt-run cache.clear_pillar tgt='web*'
 */
export const clear_pillar = fn(named, (target, { master }) => clear(master, target, ['pillar']))

/**
 * Return all values of minions in the mine: id → name → value.
 *
 * @example salt-run cache.mine 'web*'
 */
export const mine = fn(all, async (target, { master }) => {
  const entries = await master.mine.entries(await idsOf(master, target))
  const values = Object.entries(entries).map(([id, named]) => [
    id,
    Object.fromEntries(Object.entries(named).map(([name, { value }]) => [name, value])),
  ])
  return Object.fromEntries(values)
})

/**
 * Delete the values of minions in the mine. Returns true if there were any.
 *
 * @example salt-run cache.clear_mine tgt='web*'
 */
export const clear_mine = fn(named, async (target, { master }) => (await clearMine(master, target)) > 0)

/**
 * Delete the values of one name in the mine of minions. Returns true if there were any.
 *
 * @example salt-run cache.clear_mine_func tgt='web*' clear_mine_func_flag=test.ping
 */
export const clear_mine_func = fn(
  {
    ...named,
    // salt-ts-ignore required-after-optional: Salt has it there
    clear_mine_func_flag: p.string({ minLength: 1 }),
  },
  async ({ clear_mine_func_flag, ...target }, { master }) =>
    (await clearMine(master, target, [clear_mine_func_flag])) > 0,
)

/**
 * Delete all cached data of minions, and their values in the mine. It is cached again when they next request their pillar.
 *
 * @example salt-run cache.clear_all tgt='web*'
 */
export const clear_all = fn(named, async (target, { master }) => {
  const cleared = await clear(master, target, ['grains', 'pillar'])
  return (await clearMine(master, target)) > 0 || cleared
})

/**
 * Store a value in a bank. The cached data of a minion is the key `data` of the bank `minions/<id>`.
 *
 * @example salt-run cache.store mycache mykey 'The time has come'
 */
export const store = fn({ ...place, data: p.any(), cachedir }, async ({ bank, key, data }, { master }) => {
  await master.cache.store(bank, key, data)
  return null
})

/**
 * List the keys of a bank, and the banks inside it.
 *
 * @example salt-run cache.list minions
 */
export const list = fn({ bank: place.bank, cachedir }, ({ bank }, { master }) => master.cache.list(bank))

/**
 * Return a value of a bank; an empty map if there is none.
 *
 * @example salt-run cache.fetch minions/web1 data
 */
export const fetch = fn(
  { ...place, cachedir },
  async ({ bank, key }, { master }) => (await master.cache.fetch(bank, key)) ?? {},
)

/**
 * Delete a key of a bank, or a whole bank with everything inside it. Returns false if there was nothing.
 *
 * @example salt-run cache.flush mycache mykey
 * @example salt-run cache.flush mycache
 */
export const flush = fn(
  { bank: place.bank, key: p.optional(place.key), cachedir },
  ({ bank, key }, { master }) => master.cache.flush(bank, key),
)

async function idsOf(master: Context['master'], { tgt, tgt_type }: Target): Promise<readonly string[]> {
  if (tgt === undefined) throw new CommandExecutionError("Give a target: tgt='*' selects all minions.")
  return (await master.match(tgt, tgt_type)).minions
}

async function cached(master: Context['master'], target: Target, what: 'grains' | 'pillar') {
  const found: [string, unknown][] = []
  for (const id of await idsOf(master, target)) {
    const data = (await master.cache.fetch(`minions/${id}`, 'data')) as Record<string, unknown> | undefined
    if (data) found.push([id, data[what]])
  }
  return Object.fromEntries(found)
}

async function clearMine(
  master: Context['master'],
  target: Target,
  names?: readonly string[],
): Promise<number> {
  return master.mine.remove(await idsOf(master, target), names)
}

async function clear(master: Context['master'], target: Target, what: readonly string[]): Promise<boolean> {
  let cleared = false
  for (const id of await idsOf(master, target)) {
    const bank = `minions/${id}`
    const data = (await master.cache.fetch(bank, 'data')) as Record<string, unknown> | undefined
    if (!data) continue
    cleared = true
    if (what.includes('grains')) await master.cache.flush(bank)
    if (!what.includes('pillar')) await master.cache.store(bank, 'data', { pillar: data.pillar })
    if (!what.includes('grains')) await master.cache.store(bank, 'data', { grains: data.grains, pillar: {} })
  }
  return cleared
}
