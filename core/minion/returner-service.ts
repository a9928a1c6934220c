import type { Log } from '../author/context.ts'
import { encodeLocal } from '../codec/index.ts'
import type { MinionConfig } from '../config/index.ts'
import { tags } from '../events/index.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { deliveryTimes, ReturnerProcesses } from '../returners/index.ts'
import { spoolDirectory } from './paths.ts'

export interface ReturnerServiceSettings {
  readonly config: MinionConfig
  /** Of the return spool. */
  readonly outbox: Outbox
  facts(): { readonly grains: object; readonly pillar: object }
  /** Tell the masters. */
  fire(tag: string, data: Readonly<Record<string, unknown>>): void
  readonly log: Log
}

/** The processes that write to stores outside what `--return` and `return` name; tells the masters how it stands. */
export function openReturnerService(settings: ReturnerServiceSettings): ReturnerProcesses {
  const { config, outbox, facts, fire, log } = settings
  const { id } = config
  return new ReturnerProcesses({
    outboxes: [outbox],
    start: () => ({
      type: 'start',
      config: { ...config },
      grains: encodeLocal(facts().grains),
      pillar: encodeLocal(facts().pillar),
      outboxes: [ReturnSpool.path(spoolDirectory({ ...config }))],
      times: deliveryTimes(config),
    }),
    log,
    onState: (name, state) =>
      fire(tags.minionReturnerState(id, name, state.state), { ...state, returner: name, id }),
    onTried: (returner, jids, error) => {
      const trouble = error === undefined ? {} : { error }
      for (const jid of jids)
        fire(tags.jobStored(jid, id, returner), {
          jid,
          id,
          returner,
          stored: error === undefined,
          ...trouble,
        })
    },
  })
}
