import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { SaltError } from '../base/errors.ts'
import { holdersOf, holderText } from '../base/holders.ts'
import { processEntry } from '../base/process-entry.ts'
import { shortList } from '../base/short-list.ts'

/** Reading takes so long at most. Milliseconds. */
const READ_MS = 120_000
/** Who commits has the lock of a store for milliseconds; so long only who hangs, or was stopped. */
const LOCK_MS = 30_000
/** What is waited for is told so often. */
const TELL_MS = 5_000
const MAX_HOLDERS = 3

const entry = processEntry(import.meta.url, 'check-process')

export interface CheckSettings {
  /** Told what takes so long, and who is in the way. */
  readonly onWait?: (sentence: string) => void
  /** How long another process may keep a store locked. Milliseconds. */
  readonly lockMs?: number
}

/** How the process that looks at stores ended. Nothing but damage makes it die of a store, or exit with a code of its own. */
interface CheckEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

/** What it is at, as it says on stdout: `lock <path>` or `read <path>`. */
interface Step {
  readonly what: string
  readonly path: string
  readonly since: number
}

/**
 * Have a child process look at stores. It is ended when it takes too long.
 * @throws SaltError STORE_FAILED if another process does not let go of a store
 */
export async function runCheck(
  paths: readonly string[],
  { onWait = () => {}, lockMs = LOCK_MS }: CheckSettings,
): Promise<CheckEnd> {
  const child = spawn(process.execPath, [entry, ...paths], { stdio: ['ignore', 'pipe', 'pipe'] })
  let step: Step | undefined
  let locked: SaltError | undefined
  createInterface(child.stdout).on('line', (line) => {
    const [what = '', path = ''] = line.split(/ (.*)/)
    step = { what, path, since: performance.now() }
  })
  const look = async () => {
    if (!step) return
    const { what, path, since } = step
    const ms = performance.now() - since
    const seconds = Math.round(ms / 1000)
    if (what === 'read') {
      onWait(readingText(path, seconds))
      if (ms >= READ_MS) child.kill('SIGKILL')
      return
    }
    const who = await whoHas(path, child.pid)
    if (ms < lockMs) return onWait(`The store ${path} has been locked for ${seconds} seconds by ${who}.`)
    locked = lockedBy(path, who, seconds)
    child.kill('SIGKILL')
  }
  const looking = setInterval(look, Math.min(TELL_MS, lockMs))
  const end = await ended(child)
  clearInterval(looking)
  if (locked) throw locked
  return end
}

function ended(child: ChildProcess): Promise<CheckEnd> {
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, stderr: error.message }))
    child.once('close', (code, signal) => resolve({ code, signal, stderr }))
  })
}

const readingText = (path: string, seconds: number): string =>
  `The store ${path} has been read for ${seconds} seconds, to look for damage` +
  (seconds * 1000 >= READ_MS ? '; that takes too long, so it is used as it is.' : '.')

async function whoHas(path: string, besides: number | undefined): Promise<string> {
  const holders: string[] = []
  for await (const holder of holdersOf((link) => link === `${path}-lock`))
    if (holder.pid !== process.pid && holder.pid !== besides) holders.push(holderText(holder))
  if (holders.length === 0) return 'a process of another user'
  return `${holders.length > 1 ? 'one of ' : ''}${shortList(holders, MAX_HOLDERS)}`
}

const lockedBy = (path: string, who: string, seconds: number): SaltError =>
  new SaltError(
    'STORE_FAILED',
    `The store ${path} cannot be opened: it has been locked for ${seconds} seconds by ${who}. ` +
      'End that process with kill -9, and start again.',
    { path },
  )
