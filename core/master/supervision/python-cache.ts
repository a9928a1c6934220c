import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { MinionData, type MinionFacts } from '../../cache/minion-data.ts'
import { decode } from '../../codec/index.ts'
import { minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { KeyStore } from '../../keys/index.ts'
import { logDamageTo } from './directories.ts'

/** Number of minions that are read at once. */
const TOGETHER = 64

/**
 * Take over the grains and pillar that a master of Python Salt has cached here (`minions/ID/data.p` in `cachedir`), for accepted
 * minions without grains on this master. Minions of Python Salt report them only when they start, or for
 * `saltutil.refresh_grains`. Files that cannot be read are named in the log and left out.
 */
export async function takeOverPythonCache(config: MasterConfig, log: Log): Promise<void> {
  const cache = join(config.cachedir, 'minions')
  if (!config.minion_data_cache || !existsSync(cache)) return
  const minions = await new KeyStore(config.pki_dir, config.api_clients).minions()
  const data = MinionData.open(minionDataDirectory(config), { onDamage: logDamageTo(log) })
  let taken = 0
  const takeOver = async (id: string) => {
    const facts = await readPythonFacts(join(cache, id, 'data.p'), log)
    if (!facts) return
    await data.save(id, facts)
    taken++
  }
  try {
    const unknown = minions.filter((id) => data.grains(id) === undefined)
    for (let start = 0; start < unknown.length; start += TOGETHER)
      await Promise.all(unknown.slice(start, start + TOGETHER).map(takeOver))
  } finally {
    await data.close()
  }
  if (taken > 0)
    log.info(
      `Grains and pillar of ${taken === 1 ? 'one minion' : `${taken} minions`} were taken over from the cache of Python Salt.`,
    )
}

async function readPythonFacts(path: string, log: Log): Promise<MinionFacts | undefined> {
  try {
    const facts = decode(await readFile(path))
    if (!isRecord(facts) || !isRecord(facts.grains)) return undefined
    return { grains: facts.grains, ...(isRecord(facts.pillar) && { pillar: facts.pillar }) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn(`The cached grains in ${path} were not taken over: ${messageOf(error)}`)
    return undefined
  }
}
