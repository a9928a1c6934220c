import type { BatchMemberState } from '../author/context.ts'
import type { Batches, Member } from '../jobs/batches.ts'

/** The minions of one batch, each with its state and the job by which it got it; what changes is stored together. */
export class BatchMembers {
  readonly #members: Map<string, Member>
  #changes = new Map<string, Member>()

  constructor(members: ReadonlyMap<string, Member>) {
    this.#members = new Map(members)
  }

  /** Changed here only: until {@link save}, a restart finds it as it was. */
  set(id: string, member: Member): void {
    this.#members.set(id, member)
    this.#changes.set(id, member)
  }

  /** It is stored already. */
  stored(ids: Iterable<string>, member: Member): void {
    for (const id of ids) this.#members.set(id, member)
  }

  /** Resolves when all changes are on disk. */
  async save(batches: Batches, jid: string): Promise<void> {
    const changes = this.#changes
    this.#changes = new Map()
    await batches.update(jid, changes)
  }

  /** The job of a minion; undefined for one that was sent none. */
  wave(id: string): string | undefined {
    return this.#members.get(id)?.wave
  }

  in(wanted: BatchMemberState): string[] {
    return [...this.#members].filter(([, { state }]) => state === wanted).map(([id]) => id)
  }

  /** All but those that are down. */
  present(): string[] {
    return [...this.#members].filter(([, { state }]) => state !== 'down').map(([id]) => id)
  }

  /** By the job they were sent. */
  byWave(ids: readonly string[]): Map<string, string[]> {
    const found = new Map<string, string[]>()
    for (const id of ids) {
      const wave = this.wave(id)
      if (wave === undefined) continue
      const minions = found.get(wave)
      if (minions) minions.push(id)
      else found.set(wave, [id])
    }
    return found
  }
}
