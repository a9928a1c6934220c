import type { MineAdmin } from '../../author/master.ts'
import { type Mine, mineOf } from '../../cache/mine.ts'

/** Offer the mine to runners. */
export function createMineAdmin(open: () => Promise<Mine>): MineAdmin {
  return {
    get: async (ids, fun) => mineOf(await open(), ids, fun, () => true),
    async entries(ids) {
      const mine = await open()
      const found = ids.map((id) => [id, Object.fromEntries(entriesOf(mine, id))] as const)
      return Object.fromEntries(found.filter(([, entries]) => Object.keys(entries).length > 0))
    },
    async remove(ids, names) {
      const mine = await open()
      let count = 0
      for (const id of ids) count += await mine.remove(id, names)
      return count
    },
  }
}

const entriesOf = (mine: Mine, id: string) =>
  mine.names(id).flatMap((name) => {
    const entry = mine.get(id, name)
    return entry ? [[name, { value: entry.value, updated: new Date(entry.at).toISOString() }] as const] : []
  })
