import type { MasterCache } from '../../author/master.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { BankCache } from '../../cache/bank-cache.ts'
import type { MinionData } from '../../cache/minion-data.ts'

export interface CacheStores {
  minions(): Promise<MinionData>
  banks(): Promise<BankCache>
}

/** The one key of a minion's bank. */
const DATA = 'data'

/** Offer Salt's data cache on top of our stores: the bank `minions/<id>` holds grains and pillar of a minion. */
export function createMasterCache({ minions, banks }: CacheStores): MasterCache {
  return {
    async list(bank) {
      const id = minionOf(bank)
      if (id === undefined) return (await banks()).list(bank)
      const data = await minions()
      if (id === '') return data.ids()
      return data.grains(id) ? [DATA] : []
    },
    async fetch(bank, key) {
      const id = minionOf(bank)
      if (id === undefined) return (await banks()).fetch(bank, key)
      const data = await minions()
      const grains = key === DATA ? data.grains(id) : undefined
      return grains && { grains, pillar: data.pillar(id) ?? {} }
    },
    async store(bank, key, value) {
      const id = minionOf(bank)
      if (id === undefined) return (await banks()).store(bank, key, value)
      if (!id || key !== DATA || !isRecord(value)) throw unfit(bank, key)
      const { grains, pillar } = value
      await (await minions()).save(id, {
        ...(isRecord(grains) && { grains }),
        ...(isRecord(pillar) && { pillar }),
      })
    },
    async flush(bank, key) {
      const id = minionOf(bank)
      if (id === undefined) return (await banks()).flush(bank, key)
      if (key !== undefined && key !== DATA) return false
      const data = await minions()
      const ids = (id === '' ? data.ids() : [id]).filter((one) => data.grains(one))
      for (const one of ids) await data.remove(one)
      return ids.length > 0
    },
  }
}

/** Return the minion of a bank; empty for the bank of all minions, undefined for other banks. */
function minionOf(bank: string): string | undefined {
  if (bank === 'minions') return ''
  return bank.startsWith('minions/') ? bank.slice('minions/'.length) : undefined
}

function unfit(bank: string, key: string): SaltError {
  return new SaltError(
    'INVALID_ARGUMENTS',
    `${bank} ${key} cannot be stored: the bank minions/<id> only has the key ${DATA}, a map {grains, pillar}.`,
  )
}
