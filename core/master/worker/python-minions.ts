import { connections } from '../../cache/connected.ts'
import { arePythonGrains } from '../../cache/minion-data.ts'
import { catalogueOfArgspecs } from '../../loader/describe/python-catalogue.ts'
import { readCatalogue } from '../../loader/describe/read-catalogue.ts'
import {
  argspecRequestId,
  catalogueHash,
  isArgspecReturn,
  MAX_CATALOGUE_BYTES,
} from '../../wire/catalogue.ts'
import { makeJobLoad } from '../../wire/publication.ts'
import type { WorkerContext } from './context.ts'

type AskContext = Pick<WorkerContext, 'catalogues' | 'config' | 'minions' | 'nextJid' | 'publish' | 'log'>

/** Limits, for one job, the minions that are looked at and those that are asked: the answer takes a Python minion 1 to 2 s. */
const MAX_CANDIDATES = 200
const MAX_ASKED = 10
const DAY_MS = 24 * 3_600_000

/**
 * Ask those Python minions whose functions are not known for them (`sys.argspec`), once a day and after each start. Nobody
 * waits for the answers; they serve later calls.
 */
export async function askPythonMinions(
  context: AskContext,
  minions: readonly string[],
  now = Date.now(),
): Promise<void> {
  const start = Math.floor(Math.random() * minions.length)
  const some = [...minions.slice(start), ...minions.slice(0, start)].slice(0, MAX_CANDIDATES)
  const unknown = some.filter((id) => !isRecent(context, id, now))
  if (unknown.length === 0) return
  const lost = (await connections(context.config))?.lost ?? []
  const python = unknown.filter((id) => !lost.includes(id) && mayBePython(context, id)).slice(0, MAX_ASKED)
  const ids = await context.catalogues.ask(python, now, now - DAY_MS)
  if (ids.length === 0) return
  const { user } = context.config
  const jid = argspecRequestId(context.nextJid())
  const about = { fun: 'sys.argspec', arg: ['*'], tgt: ids, tgt_type: 'list', jid, ret: '', user }
  await context.publish(makeJobLoad(about), ids)
}

/** Whether the minion's functions are known and not too old. Minions of salt-ts report theirs by themselves. */
function isRecent({ catalogues }: AskContext, id: string, now: number): boolean {
  const asked = catalogues.asked(id)
  return asked === undefined ? catalogues.hash(id) !== undefined : asked > now - DAY_MS
}

/** Whether the minion may run Python Salt. Grains of minions of protocol 2 are not stored, as their requests prove no identity. */
function mayBePython({ minions }: AskContext, id: string): boolean {
  const grains = minions.grains(id)
  return grains === undefined || arePythonGrains(grains)
}

/** Process a return that answers our `sys.argspec`, which is not a user's job; false for all other returns. */
export async function takeArgspecs(
  context: AskContext,
  id: string,
  ret: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (!isArgspecReturn(ret)) return false
  const catalogue = catalogueOfArgspecs(ret.return)
  const text = catalogue && JSON.stringify(catalogue)
  if (!text || Buffer.byteLength(text) > MAX_CATALOGUE_BYTES || !readCatalogue(text)) {
    context.log.debug(`${id} returned no usable list of its functions.`)
  } else if (context.catalogues.asked(id) !== undefined && !hasReported(context, id)) {
    await context.catalogues.save(id, { hash: catalogueHash(text), text })
  }
  return true
}

/** Whether the minion has reported a catalogue by itself, which says more than `sys.argspec`. */
function hasReported({ catalogues }: AskContext, id: string): boolean {
  const hash = catalogues.hash(id)
  const text = hash === undefined ? undefined : catalogues.text(hash)
  return text !== undefined && readCatalogue(text)?.python !== true
}
