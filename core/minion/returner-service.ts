import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { encodeLocal } from '../codec/index.ts'
import type { MinionConfig } from '../config/index.ts'
import { tags } from '../events/index.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { ReturnerProcesses, writeTimes } from '../outbox/index.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import { spoolDirectory } from './paths.ts'

export interface ReturnerServiceSettings {
  readonly config: MinionConfig
  /** The outbox of the return spool. */
  readonly outbox: Outbox
  facts(): { readonly grains: object; readonly pillar: object }
  sendToMasters(load: Readonly<Record<string, unknown>>): Promise<unknown>
  readonly log: Log
}

/**
 * Open the processes that write returns to the stores of `--return` and `return`. Their states and results are sent to the
 * masters as events.
 */
export function openReturnerService(settings: ReturnerServiceSettings): ReturnerProcesses {
  const { config, outbox, facts, sendToMasters, log } = settings
  const { id } = config
  const fire = (tag: string, data: Readonly<Record<string, unknown>>) =>
    void sendToMasters(makeMinionEvent(id, { tag, data })).catch((error: unknown) =>
      log.debug(`The event ${tag} could not be sent to any master: ${messageOf(error)}`),
    )
  return new ReturnerProcesses({
    outboxes: [outbox],
    start: () => ({
      type: 'start',
      config: { ...config },
      grains: encodeLocal(facts().grains),
      pillar: encodeLocal(facts().pillar),
      outboxes: [ReturnSpool.path(spoolDirectory({ ...config }))],
      times: writeTimes(config),
    }),
    log,
    onState: (name, state) =>
      fire(tags.minionReturnerState(id, name, state.state), { ...state, returner: name, id }),
    onTried: (returner, jids, error) => {
      const failure = error === undefined ? {} : { error }
      for (const jid of jids)
        fire(tags.jobStored(jid, id, returner), {
          jid,
          id,
          returner,
          stored: error === undefined,
          ...failure,
        })
    },
  })
}
