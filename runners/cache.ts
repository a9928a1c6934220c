/** What the master has cached: of the minions, and for whoever stores something. */
import { CommandExecutionError, type Context, fn, p } from 'salt-ts'

const tgt_type = p.default(p.string(), 'glob')
const all = { tgt: p.default(p.any(), '*'), tgt_type }
/** Nothing is cleared that is not named. */
const named = { tgt: p.optional(p.any()), tgt_type }
type Meant = { readonly tgt?: unknown; readonly tgt_type: string }

const place = { bank: p.string({ minLength: 1 }), key: p.string({ minLength: 1 }) }
/** Salt's localfs keeps banks in a directory of choice; here there is one store. */
const cachedir = p.optional(p.described(p.string(), 'Has no effect: there is one cache.'))

/**
 * Cached grains of minions: id → grains. Nobody is asked.
 *
 * @example salt-run cache.grains 'web*'
 */
export const grains = fn({ tgt: p.any(), tgt_type }, (meant, { master }) => cached(master, meant, 'grains'))

/**
 * Cached pillar of minions: id → pillar.
 *
 * @example salt-run cache.pillar 'web*'
 */
export const pillar = fn(all, (meant, { master }) => cached(master, meant, 'pillar'))

/**
 * Forget the cached grains of minions. True if there were any.
 *
 * @example salt-run cache.clear_grains tgt='web*'
 */
export const clear_grains = fn(named, (meant, { master }) => clear(master, meant, ['grains']))

/**
 * Forget the cached pillar of minions. True if there was any.
 *
 * @example salt-run cache.clear_pillar tgt='web*'
 */
export const clear_pillar = fn(named, (meant, { master }) => clear(master, meant, ['pillar']))

/**
 * Forget all that is cached of minions. They tell it anew when they next ask for their pillar.
 *
 * @example salt-run cache.clear_all tgt='web*'
 */
export const clear_all = fn(named, (meant, { master }) => clear(master, meant, ['grains', 'pillar']))

/**
 * Store a value in a bank. What is cached of a minion is the key `data` of the bank `minions/<id>`.
 *
 * @example salt-run cache.store mycache mykey 'The time has come'
 */
export const store = fn({ ...place, data: p.any(), cachedir }, async ({ bank, key, data }, { master }) => {
  await master.cache.store(bank, key, data)
  return null
})

/**
 * The keys of a bank, and the banks inside it.
 *
 * @example salt-run cache.list minions
 */
export const list = fn({ bank: place.bank, cachedir }, ({ bank }, { master }) => master.cache.list(bank))

/**
 * A value of a bank; an empty map if there is none.
 *
 * @example salt-run cache.fetch minions/web1 data
 */
export const fetch = fn(
  { ...place, cachedir },
  async ({ bank, key }, { master }) => (await master.cache.fetch(bank, key)) ?? {},
)

/**
 * Remove a key of a bank, or a whole bank with all inside it. False if there was nothing.
 *
 * @example salt-run cache.flush mycache mykey
 * @example salt-run cache.flush mycache
 */
export const flush = fn(
  { bank: place.bank, key: p.optional(place.key), cachedir },
  ({ bank, key }, { master }) => master.cache.flush(bank, key),
)

async function idsOf(master: Context['master'], { tgt, tgt_type }: Meant): Promise<readonly string[]> {
  return (await master.match(tgt, tgt_type)).minions
}

async function cached(master: Context['master'], meant: Meant, what: 'grains' | 'pillar') {
  const found: [string, unknown][] = []
  for (const id of await idsOf(master, meant)) {
    const data = (await master.cache.fetch(`minions/${id}`, 'data')) as Record<string, unknown> | undefined
    if (data) found.push([id, data[what]])
  }
  return Object.fromEntries(found)
}

async function clear(master: Context['master'], meant: Meant, what: readonly string[]): Promise<boolean> {
  if (meant.tgt === undefined) throw new CommandExecutionError("Name the minions: tgt='*' means all of them.")
  let cleared = false
  for (const id of await idsOf(master, meant)) {
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
