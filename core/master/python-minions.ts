import { connections } from '../jobs/connected.ts'
import { catalogueOfArgspecs } from '../loader/python-catalogue.ts'
import { readCatalogue } from '../loader/read-catalogue.ts'
import { hashOf, isAnswer, questionId } from '../wire/catalogue.ts'
import { makeJobLoad } from '../wire/publication.ts'
import type { WorkerRoom } from './room.ts'

type Room = Pick<WorkerRoom, 'catalogues' | 'config' | 'minions' | 'nextJid' | 'publish' | 'log'>

/** So many are looked at, and so many asked, with one job: what a Python minion answers costs it a second or two. */
const MOST_LOOKED_AT = 200
const MOST_ASKED = 10
const DAY_MS = 24 * 3_600_000
/** What one offers is text of at most so many bytes: Python Salt comes with thousands of functions. */
const LARGEST = 2 * 1024 * 1024

/**
 * Ask Python minions among these, of which it is not known, what they offer (`sys.argspec`): once a day, and when they
 * were started anew. Nobody waits for it; the answers are there for later calls.
 */
export async function askPythonMinions(
  room: Room,
  minions: readonly string[],
  now = Date.now(),
): Promise<void> {
  const start = Math.floor(Math.random() * minions.length)
  const some = [...minions.slice(start), ...minions.slice(0, start)].slice(0, MOST_LOOKED_AT)
  const unknown = some.filter((id) => !isRecent(room, id, now))
  if (unknown.length === 0) return
  const lost = (await connections(room.config))?.lost ?? []
  const python = unknown.filter((id) => !lost.includes(id) && mayBePython(room, id)).slice(0, MOST_ASKED)
  const ids = await room.catalogues.ask(python, now, now - DAY_MS)
  if (ids.length === 0) return
  const { user } = room.config
  const jid = questionId(room.nextJid())
  const about = { fun: 'sys.argspec', arg: ['*'], tgt: ids, tgt_type: 'list', jid, ret: '', user }
  await room.publish(makeJobLoad(about), ids)
}

/** Minions of salt-ts report by themselves. */
function isRecent({ catalogues }: Room, id: string, now: number): boolean {
  const asked = catalogues.asked(id)
  return asked === undefined ? catalogues.hash(id) !== undefined : asked > now - DAY_MS
}

/** Those of generation 2 prove nothing with the request that brings their grains, so these are not kept. */
function mayBePython({ minions }: Room, id: string): boolean {
  const grains = minions.grains(id)
  return grains === undefined || grains.pythonversion !== undefined
}

/** True if a return is the answer to such a question, which is no job of anybody: it is taken here. */
export async function takeAnswer(
  room: Room,
  id: string,
  ret: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (!isAnswer(ret)) return false
  const catalogue = catalogueOfArgspecs(ret.return)
  const text = catalogue && JSON.stringify(catalogue)
  if (!text || Buffer.byteLength(text) > LARGEST || !readCatalogue(text)) {
    room.log.debug(`${id} gave no list of its functions that can be used.`)
  } else if (room.catalogues.asked(id) !== undefined && !hasReported(room, id)) {
    await room.catalogues.save(id, { hash: hashOf(text), text })
  }
  return true
}

/** What a minion reports by itself says more. */
function hasReported({ catalogues }: Room, id: string): boolean {
  const hash = catalogues.hash(id)
  const text = hash === undefined ? undefined : catalogues.text(hash)
  return text !== undefined && readCatalogue(text)?.python !== true
}
