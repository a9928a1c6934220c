import type { Log } from '../author/context.ts'
import type { Returner } from '../author/returner.ts'
import type { MasterConfig } from '../config/index.ts'
import { maskingLog, openLoader } from '../loader/index.ts'
import { openConfiguredReturner } from '../outbox/index.ts'
import { targetFrom } from '../outbox/outbox-target.ts'

/** Open a returner with its options of the master's configuration. Rejects as `openReturner` does. */
export const openMasterReturner = (name: string, config: MasterConfig, log: Log): Promise<Returner> =>
  openConfiguredReturner(targetFrom(name), {
    loader: openLoader('returners', { config, log }),
    config: { ...config },
    log: maskingLog(log),
  })
