/** What `salt-key` does to keys: ask, change, tell. */
import { writeFile } from 'node:fs/promises'
import { messageOf } from '../base/errors.ts'
import { fnmatch } from '../base/fnmatch.ts'
import type { MasterConfig } from '../config/index.ts'
import { EventBus, masterEventSockets, tags } from '../events/index.ts'
import { MinionData } from '../jobs/minion-data.ts'
import { minionDataDirectory } from '../jobs/paths.ts'
import type { KeyChange, KeyState, KeyStore } from '../keys/index.ts'
import { rotationFlag } from '../master/paths.ts'
import { tell } from './console.ts'
import { exitCodes } from './exit-codes.ts'
import type { Printer } from './printer.ts'
import { confirm } from './prompt.ts'

export type KeyAct = 'accept' | 'reject' | 'delete'

export interface KeySettings {
  readonly config: MasterConfig
  readonly store: KeyStore
  readonly printer: Printer
  readonly yes: boolean
  readonly quiet: boolean
  readonly include: { readonly accepted: boolean; readonly rejected: boolean; readonly denied: boolean }
  readonly rotateAesKey: boolean
  readonly preserveMinions: boolean
}

/** Salt's names of the states, in the order it lists them. */
export const SECTIONS: readonly (readonly [section: string, state: KeyState])[] = [
  ['minions', 'accepted'],
  ['minions_denied', 'denied'],
  ['minions_pre', 'pending'],
  ['minions_rejected', 'rejected'],
]

const DONE = { accept: 'accepted', reject: 'rejected', delete: 'deleted' } as const

/** Accept, reject or delete every key that a pattern means. Exit code 0 only if it meant one and all went well. */
export async function changeKeys(act: KeyAct, match: string, settings: KeySettings): Promise<number> {
  const meant = await meantKeys(match, statesOf(act, settings), settings.store)
  if (Object.keys(meant).length === 0) {
    tell(
      `The key glob '${match}' does not match any ${act === 'delete' ? 'accepted, unaccepted or rejected' : 'unaccepted'} keys.`,
    )
    return match === '*' ? exitCodes.ok : exitCodes.failed
  }
  if (!settings.yes && !(await agreed(act, meant))) return exitCodes.failed
  const changes = await carryOut(act, [...new Set(Object.values(meant).flat())], settings)
  await tellOthers(act, changes, settings)
  await report(act, changes, settings)
  return changes.some(({ refused }) => refused !== undefined) ? exitCodes.failed : exitCodes.ok
}

function statesOf(act: KeyAct, { include }: KeySettings): KeyState[] {
  if (act === 'delete') return ['accepted', 'denied', 'pending', 'rejected']
  const states: KeyState[] = ['pending']
  if (act === 'accept' && include.rejected) states.push('rejected')
  if (act === 'reject' && include.accepted) states.push('accepted')
  if (include.denied) states.push('denied')
  return states
}

/** Section → ids; sections without any are left out. */
export async function meantKeys(
  match: string,
  states: readonly KeyState[],
  store: KeyStore,
): Promise<Record<string, string[]>> {
  const meant: Record<string, string[]> = {}
  for (const [section, state] of SECTIONS) {
    if (!states.includes(state)) continue
    const ids = (await store.list(state)).filter((id) => fnmatch(id, match))
    if (ids.length > 0) meant[section] = ids
  }
  return meant
}

function agreed(act: KeyAct, meant: Record<string, string[]>): Promise<boolean> {
  tell(`The following keys are going to be ${DONE[act]}:`)
  for (const [section, ids] of Object.entries(meant))
    tell(`${section}:\n${ids.map((id) => `    ${id}`).join('\n')}`)
  return confirm('Proceed?', act !== 'delete')
}

function carryOut(act: KeyAct, ids: readonly string[], settings: KeySettings): Promise<KeyChange[]> {
  const { store, include } = settings
  if (act === 'accept') {
    return store.accept(ids, { includeRejected: include.rejected, includeDenied: include.denied })
  }
  if (act === 'reject') {
    return store.reject(ids, { includeAccepted: include.accepted, includeDenied: include.denied })
  }
  return store.remove(ids)
}

/** The event bus if a master runs, a new AES key for the others, and nothing cached of who is gone. */
async function tellOthers(act: KeyAct, changes: readonly KeyChange[], settings: KeySettings): Promise<void> {
  const { config } = settings
  const done = changes.filter(({ refused }) => refused === undefined)
  const lost = done.filter(({ from, to }) => from === 'accepted' && to !== 'accepted')
  if (lost.length > 0 && config.rotate_aes_key && settings.rotateAesKey) await askForRotation(config)
  if (act === 'delete' && !settings.preserveMinions)
    await forget(
      done.map(({ id }) => id),
      config,
    )
  const bus = await EventBus.connect(masterEventSockets(config)).catch(() => undefined)
  if (!bus) return
  for (const id of new Set(done.map(({ id }) => id))) await bus.fire(tags.key, { result: true, act, id })
  await bus.close()
}

/** Wire protocol §9: the master looks for this file. */
async function askForRotation(config: MasterConfig): Promise<void> {
  await writeFile(rotationFlag(config), '', { mode: 0o400, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') tell(`No new AES key was asked for: ${messageOf(error)}`)
    },
  )
}

async function forget(ids: readonly string[], config: MasterConfig): Promise<void> {
  if (config.preserve_minion_cache || config.preserve_minions) return
  try {
    const data = MinionData.open(minionDataDirectory(config))
    for (const id of new Set(ids)) await data.remove(id)
    await data.close()
  } catch (error) {
    tell(`What is cached of the minions was not removed: ${messageOf(error)}`)
  }
}

async function report(
  act: KeyAct,
  changes: readonly KeyChange[],
  { printer, quiet }: KeySettings,
): Promise<void> {
  for (const { refused } of changes) if (refused !== undefined) tell(refused)
  const ids = [...new Set(changes.filter(({ refused }) => refused === undefined).map(({ id }) => id))]
  if (quiet || ids.length === 0) return
  if (printer.chosen !== undefined) return printer.print({ [SECTION_OF[act]]: ids })
  for (const id of ids) process.stdout.write(`Key for minion ${id} ${DONE[act]}.\n`)
}

const SECTION_OF = { accept: 'minions', reject: 'minions_rejected', delete: 'deleted' } as const
