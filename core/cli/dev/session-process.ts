/** Entry of the process with the master, the minions and the author's functions. */

import { rm } from 'node:fs/promises'
import inspector from 'node:inspector'
import path from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { keepLastGood } from '../../loader/index.ts'
import { connectParent, ignoreSignals } from '../../process/parent.ts'
import { CompletionTables } from './completion-tables.ts'
import { type DevFleet, refuseOtherProgram, typesNote } from './dev-fleet.ts'
import { failureText } from './load-failure.ts'
import type { FleetSettings, FromSession, ToSession } from './messages.ts'
import { OwnFleet } from './own-fleet.ts'
import { RealMinion } from './real-minion.ts'

ignoreSignals()
let root: string | undefined
let tables: CompletionTables | undefined
let fleet: DevFleet | undefined
/** The author's folder. */
let folder = ''
/** Number of loads that have begun. */
let loads = 0
/** The last text about each file that does not load, by its path. */
const shown = new Map<string, string>()

process.stdout.on('error', () => {}) // fails once the terminal is closed

const parent = connectParent<ToSession, FromSession>({
  onMessage: (message) => void act(message),
  onGone: () => void endAlone(),
})

async function act(message: ToSession): Promise<void> {
  if (message.type === 'open') return open(message)
  if (message.type === 'stop') return stop()
  if (!fleet) return
  if (message.type === 'run') return run(fleet, message.words)
  shown.clear()
  await load(fleet, message.grains)
}

/** Load the files as they are now. */
async function load(fleet: DevFleet, grains: boolean): Promise<void> {
  try {
    await fleet.reload(grains)
    await parent.send({ type: 'loaded', failing: shown.size })
    await writeTypes()
  } catch (error) {
    await parent.send({ type: 'note', text: `ERROR: ${messageOf(error)}` })
    await parent.send({ type: 'loaded', failing: undefined })
  }
  await tables?.write(fleet.configDir)
  await parent.send({ type: 'words' })
}

async function open(message: Extract<ToSession, { type: 'open' }>): Promise<void> {
  const { settings } = message
  root = message.root
  tables = new CompletionTables(message.completionCache)
  if (settings.inspect !== undefined) inspector.open(settings.inspect, '127.0.0.1') // not by a flag, which its children would inherit
  folder = settings.folder
  watchLoads()
  try {
    fleet = await openFleet(root, settings)
  } catch (error) {
    await parent.send({ type: 'refused', message: messageOf(error) })
    return stop()
  }
  await parent.send({ type: 'ready' })
  await load(fleet, false)
}

const openFleet = (root: string, settings: FleetSettings): Promise<DevFleet> =>
  typeof settings.minions === 'number'
    ? OwnFleet.open(root, settings.minions, settings)
    : RealMinion.open(settings.minions, settings, () => shown.size === 0)

async function run(fleet: DevFleet, words: readonly string[]): Promise<void> {
  const code = refuseOtherProgram(words[0] ?? '', fleet.configDir) ?? (await fleet.run(words))
  await new Promise((written) => process.stdout.write('', written))
  await parent.send({ type: 'ran', code })
}

function watchLoads(): void {
  keepLastGood({
    onLoading: (path) => {
      const load = { type: 'loading', path, key: String(++loads) } as const
      void parent.send({ ...load, over: false })
      return () => void parent.send({ ...load, over: true })
    },
    onFailure: ({ path, error, hasEarlier }) => {
      const text = failureText(path, error, folder)
      if (shown.get(path) === text) return // each minion loads the file
      const isNew = ![...shown.values()].includes(text) // files that import each other fail in the same place
      shown.set(path, text)
      const note = hasEarlier ? '\nIts last version that loaded stays in use.' : ''
      if (isNew) void parent.send({ type: 'failure', text: `${text}${note}` })
    },
  })
}

/** Write the types of the functions. While a file does not load, they stay as they are. */
async function writeTypes(): Promise<void> {
  if (shown.size > 0) return
  const text = await typesNote(folder).catch(messageOf)
  if (text !== undefined) await parent.send({ type: 'note', text })
}

async function stop(): Promise<void> {
  await close()
  process.exit()
}

/** End although the parent was killed: its folder, and programs that functions have started, are left. */
async function endAlone(): Promise<void> {
  await close()
  if (root !== undefined) await rm(path.dirname(root), { recursive: true, force: true })
  process.kill(-process.pid, 'SIGKILL')
}

async function close(): Promise<void> {
  const closing = tables
  tables = undefined // so that it writes no more
  await closing?.close()
  await fleet?.close().catch(() => undefined)
}
