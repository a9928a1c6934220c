import type { Log } from '../author/context.ts'
import type { Returner, ReturnRecord } from '../author/returner.ts'
import { messageOf } from '../base/errors.ts'
import { sentence } from '../base/sentence.ts'
import type { MinionConfig } from '../config/index.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { maskingLog, openLoader, withoutSecrets } from '../loader/index.ts'
import { checkReturner, openConfiguredReturner, type ReturnerHost } from '../outbox/index.ts'
import { targetsOf, targetText } from '../outbox/outbox-target.ts'
import { writeTimes } from '../outbox/returner-writer.ts'
import { withDeadline } from '../outbox/write.ts'
import { spoolDirectory } from './paths.ts'

type GrainsAndPillar = Readonly<Record<'grains' | 'pillar', Readonly<Record<string, unknown>>>>

/** Write the return of one call to external stores. Resolves with a sentence for each store that does not accept it. */
export type SaveReturn = (ret: ReturnRecord) => Promise<string[]>

/**
 * Open the returners of `salt-call --return a,b`. A return that a store does not accept waits in the outbox of the minion.
 * Rejects with the errors of `checkReturner` before the function of the call runs.
 */
export async function returnersOfCall(
  names: string,
  config: MinionConfig,
  { grains, pillar }: GrainsAndPillar,
  given: Log,
): Promise<SaveReturn> {
  const log = maskingLog(given)
  const loader = openLoader('returners', { config, grains, log })
  const host: ReturnerHost = { loader, config: { ...config }, places: [grains, pillar], log }
  const targets = targetsOf(names)
  const { timeoutMs } = writeTimes(config)
  for (const target of targets) await checkReturner(target, host)

  async function save(name: string, ret: ReturnRecord): Promise<void> {
    const returner = await withDeadline('opening', timeoutMs, () => openConfiguredReturner({ name }, host))
    try {
      await withDeadline('save', timeoutMs, () => returner.save(ret))
    } finally {
      await close(name, returner)
    }
  }

  /** Close a returner. Never rejects: a return that was saved stays saved. */
  async function close(name: string, returner: Returner): Promise<void> {
    try {
      await withDeadline('close', timeoutMs, () => returner.close?.())
    } catch (error) {
      log.debug(`The returner ${name} could not be closed: ${messageOf(error)}`)
    }
  }

  return async (ret) => {
    const sentences: string[] = []
    for (const target of targets) {
      try {
        await save(target.name, ret)
      } catch (error) {
        await addToOutbox(config, targetText(target), ret)
        sentences.push(
          `The store of the returner ${target.name} does not accept the return: ${sentence(withoutSecrets(log, messageOf(error)))} It waits in the outbox of this minion.`,
        )
      }
    }
    return sentences
  }
}

async function addToOutbox(config: MinionConfig, target: string, ret: ReturnRecord): Promise<void> {
  const spool = ReturnSpool.open(spoolDirectory({ ...config }))
  try {
    await spool.outbox?.add([target], [{ kind: 'return', ret }])
  } finally {
    await spool.close()
  }
}
