import type { SharedStore } from '../../core/master/cluster/shared-values.ts'

/** A store of a cluster, in memory. */
export class MemoryStore implements SharedStore {
  values = new Map<string, { key: string; value: Uint8Array; revision: number }>()
  last = 0
  isAway = false

  async sharedSince(_: string, revision: number, limit: number) {
    if (this.isAway) throw new Error('the store is away')
    const all = [...this.values.values()].sort((a, b) => a.revision - b.revision)
    return all.filter((value) => isRevision(value.revision) && value.revision > revision).slice(0, limit)
  }

  async putShared(_: string, key: string, value: Uint8Array, expected: number) {
    if (this.isAway) throw new Error('the store is away')
    const present = this.values.get(key)?.revision ?? 0
    if ((isRevision(present) ? present : 0) !== expected) return undefined
    this.values.set(key, { key, value, revision: ++this.last })
    return this.last
  }

  async removeShared(_: string, key: string, expected: number) {
    if (this.isAway) throw new Error('the store is away')
    if (this.values.get(key)?.revision === expected) this.values.delete(key)
  }
}

const isRevision = (revision: number): boolean => Number.isSafeInteger(revision) && revision > 0
