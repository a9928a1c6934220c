import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { SaltError } from '../base/errors.ts'
import { shortList } from '../base/sentence.ts'
import { holdersOf, holderText } from '../process/holders.ts'
import { processEntry } from '../process/process-entry.ts'

/** Longest time to read a store. */
const READ_MS = 120_000
/**
 * Longest time that another process may keep a store locked. A commit takes milliseconds; only a hung or stopped
 * process takes longer.
 */
const LOCK_MS = 30_000
/** Interval of reports about waiting. */
const REPORT_MS = 5_000
const MAX_HOLDERS = 3

const entry = processEntry('store/check-process')

export interface CheckSettings {
  /** Called with a sentence about what takes long, and which process has the lock. */
  readonly onWait?: (sentence: string) => void
  /** How long another process may keep a store locked, in milliseconds. */
  readonly lockMs?: number
  /** Ends the check, which then has found nothing. */
  readonly signal?: AbortSignal
}

/** The end of the checking process. Only damage makes it crash, or exit with {@link DAMAGED}. */
interface CheckEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

/** The current step of the checking process, which it reports on stdout: `lock <path>` or `read <path>`. */
interface Step {
  readonly what: string
  readonly path: string
  readonly since: number
}

/**
 * Check stores in a child process. It is killed if it takes too long.
 * @throws SaltError STORE_FAILED if another process keeps a store locked
 */
export async function runCheck(
  paths: readonly string[],
  { onWait = () => {}, lockMs = LOCK_MS, signal }: CheckSettings,
): Promise<CheckEnd> {
  const child = spawn(process.execPath, [entry, ...paths], {
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  })
  let step: Step | undefined
  let locked: SaltError | undefined
  createInterface(child.stdout).on('line', (line) => {
    const [what = '', path = ''] = line.split(/ (.*)/)
    step = { what, path, since: performance.now() }
  })
  const report = async () => {
    if (!step) return
    const { what, path, since } = step
    const ms = performance.now() - since
    const seconds = Math.round(ms / 1000)
    if (what === 'read') {
      onWait(readingText(path, seconds))
      if (ms >= READ_MS) child.kill('SIGKILL')
      return
    }
    const holder = await holdersOfLock(path, child.pid)
    if (ms < lockMs) return onWait(`The store ${path} has been locked for ${seconds} seconds by ${holder}.`)
    locked = lockedBy(path, holder, seconds)
    child.kill('SIGKILL')
  }
  const timer = setInterval(report, Math.min(REPORT_MS, lockMs))
  const end = await ended(child)
  clearInterval(timer)
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
  (seconds * 1000 >= READ_MS
    ? '; the check takes too long and is stopped, and the store is used unchecked.'
    : '.')

async function holdersOfLock(path: string, ignoredPid: number | undefined): Promise<string> {
  const holders: string[] = []
  for await (const holder of holdersOf((link) => link === `${path}-lock`))
    if (holder.pid !== process.pid && holder.pid !== ignoredPid) holders.push(holderText(holder))
  if (holders.length === 0) return 'a process of another user'
  return `${holders.length > 1 ? 'one of ' : ''}${shortList(holders, MAX_HOLDERS)}`
}

const lockedBy = (path: string, holder: string, seconds: number): SaltError =>
  new SaltError(
    'STORE_FAILED',
    `The store ${path} cannot be opened: it has been locked for ${seconds} seconds by ${holder}. ` +
      'End that process with kill -9, and start again.',
    { path },
  )
