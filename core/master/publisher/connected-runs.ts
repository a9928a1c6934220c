import { minionTopic, tokenOfRun } from '../../channel/publish-channel.ts'

/** What the subscriptions of the publish port show. */
export interface ConnectedMinions {
  /** Topics of minions (`minionTopic`): those of connected runs, and those that minions subscribe to with `zmq_filtering`. */
  readonly topics: ReadonlySet<string>
  /** Tokens of the connected runs of minions of salt-ts, by the ids that have reported them with their keys. */
  readonly runs: ReadonlyMap<string, readonly string[]>
}

export const NOBODY: ConnectedMinions = { topics: new Set(), runs: new Map() }

/** Finds the minions to which the topics of runs belong. */
export class RunTopics {
  readonly #idOf: (token: string) => string | undefined
  /** The ids of the runs that were connected at the last reading, by token. */
  #known: ReadonlyMap<string, string> = new Map()

  /** `idOf`: returns the id of the minion that has reported a run. */
  constructor(idOf: (token: string) => string | undefined) {
    this.#idOf = idOf
  }

  read(subscribed: ReadonlySet<string>): ConnectedMinions {
    const topics = new Set<string>()
    const runs = new Map<string, string[]>()
    const known = new Map<string, string>()
    for (const topic of subscribed) {
      const token = tokenOfRun(topic)
      if (token === undefined) topics.add(topic)
      else {
        const id = this.#known.get(token) ?? this.#idOf(token)
        if (id === undefined) continue
        known.set(token, id)
        topics.add(minionTopic(id))
        runs.set(id, [...(runs.get(id) ?? []), token])
      }
    }
    this.#known = known
    return { topics, runs }
  }
}
