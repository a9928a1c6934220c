import type { BatchMemberState } from '../../author/context.ts'
import type { Batches, Member } from '../../jobs/batches.ts'

/** The minions of one batch, each with its state and the job (wave) that was sent to it. Changes are stored together. */
export class BatchMembers {
  readonly #members: Map<string, Member>
  #changes = new Map<string, Member>()

  constructor(members: ReadonlyMap<string, Member>) {
    this.#members = new Map(members)
  }

  /** Change a minion in memory: until {@link save}, a restart finds it unchanged. */
  set(id: string, member: Member): void {
    this.#members.set(id, member)
    this.#changes.set(id, member)
  }

  /** Change minions whose state is stored already. */
  setStored(ids: Iterable<string>, member: Member): void {
    for (const id of ids) this.#members.set(id, member)
  }

  /** Store the changes. Resolves once they are on disk. */
  async save(batches: Batches, jid: string): Promise<void> {
    const changes = this.#changes
    this.#changes = new Map()
    await batches.update(jid, changes)
  }

  /** Return the jid of the wave that a minion belongs to; undefined if no wave was sent to it. */
  waveOf(id: string): string | undefined {
    return this.#members.get(id)?.wave
  }

  inState(wanted: BatchMemberState): string[] {
    return [...this.#members].filter(([, { state }]) => state === wanted).map(([id]) => id)
  }

  /** Return all minions but those that are down. */
  present(): string[] {
    return [...this.#members].filter(([, { state }]) => state !== 'down').map(([id]) => id)
  }

  /** Group minions by the wave that was sent to them. */
  byWave(ids: readonly string[]): Map<string, string[]> {
    const found = new Map<string, string[]>()
    for (const id of ids) {
      const wave = this.waveOf(id)
      if (wave === undefined) continue
      const minions = found.get(wave)
      if (minions) minions.push(id)
      else found.set(wave, [id])
    }
    return found
  }
}
