import type { Log } from '../author/context.ts'
import type { ReturnRecord } from '../author/returner.ts'
import { messageOf } from '../base/errors.ts'
import { sentence } from '../base/sentence.ts'
import type { MinionConfig } from '../config/index.ts'
import { targetsOf, targetText } from '../jobs/outbox-target.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { openLoader } from '../loader/index.ts'
import { checkReturner, openReturner, type ReturnerHost } from '../returners/index.ts'
import { spoolDirectory } from './paths.ts'

type Facts = Readonly<Record<'grains' | 'pillar', Readonly<Record<string, unknown>>>>

/** Writes the return of one call to stores outside; gives a sentence for each that does not take it. */
export type SaveReturn = (ret: ReturnRecord) => Promise<string[]>

/**
 * What `salt-call --return a,b` writes with. A return that a store does not take waits in the outbox of the minion.
 * @throws what `checkReturner` throws, before anything is called.
 */
export async function returnersOfCall(
  names: string,
  config: MinionConfig,
  { grains, pillar }: Facts,
  log: Log,
): Promise<SaveReturn> {
  const loader = openLoader('returners', { config, grains, log })
  const host: ReturnerHost = { loader, config: { ...config }, places: [grains, pillar], log }
  const targets = targetsOf(names)
  for (const target of targets) await checkReturner(target, host)

  async function save(name: string, ret: ReturnRecord): Promise<void> {
    const returner = await openReturner({ name }, host)
    try {
      await returner.save(ret)
    } finally {
      await returner.close?.()
    }
  }

  return async (ret) => {
    const sentences: string[] = []
    for (const target of targets) {
      try {
        await save(target.name, ret)
      } catch (error) {
        await putAside(config, targetText(target), ret)
        sentences.push(
          `The store of the returner ${target.name} does not take the return: ${sentence(messageOf(error))} It waits in the outbox of this minion.`,
        )
      }
    }
    return sentences
  }
}

async function putAside(config: MinionConfig, target: string, ret: ReturnRecord): Promise<void> {
  const spool = ReturnSpool.open(spoolDirectory({ ...config }))
  try {
    await spool.outbox?.add([target], [{ kind: 'return', ret }])
  } finally {
    await spool.close()
  }
}
