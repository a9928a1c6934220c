/**
 * Gives a test run a temporary folder of its own, and fails the run if tests leave anything behind: a file in that
 * folder, or a process that was started with it. At the end it says what was left out.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'
import { leftOut } from './left-out.ts'
import { NPM_CERTIFICATES } from './npm.ts'
import { signalAll, withEnvironment } from './processes.ts'

/** Caches of tools; they are removed with the folder. */
const caches = /^(salt-ts-\d+|tsx-\d+|node-compile-cache|v8-compile-cache.*)$/

/** What ends with the process that started it may take a moment. */
const GRACE_MS = 60_000

/** Where Debian has servers; an ordinary user's PATH lacks them. */
const SERVERS = ['/usr/local/sbin', '/usr/sbin', '/sbin']

export default function setup({ vitest }: TestProject): () => Promise<void> {
  process.env.PATH = [process.env.PATH, ...SERVERS].join(delimiter)
  // Node parses these at each start of a program, which takes 70 ms. Tests trust the certificates that they make; npm needs these.
  process.env[NPM_CERTIFICATES] = process.env.NODE_EXTRA_CA_CERTS ?? ''
  delete process.env.NODE_EXTRA_CA_CERTS
  const folder = mkdtempSync(join(parentFolder(), 'st-'))
  chmodSync(folder, 0o711) // some tests run programs as another user
  process.env.TMPDIR = folder
  const running = () => withEnvironment('TMPDIR', folder).filter(({ parent }) => parent !== process.pid)
  return async () => {
    for (const until = Date.now() + GRACE_MS; running().length > 0 && Date.now() < until; ) await delay(50)
    const processes = running()
    const files = readdirSync(folder).filter((name) => !caches.test(name))
    signalAll(
      processes.map(({ pid }) => pid),
      'SIGKILL',
    )
    rmSync(folder, { recursive: true, force: true })
    const lacking = vitest.config.testNamePattern
      ? undefined
      : leftOut(vitest.state.getTestModules(), vitest.config.tagsFilter !== undefined)
    if (lacking) console.log(lacking)
    const left = [...processes.map(({ pid, command }) => `process ${pid} (${command})`), ...files]
    if (left.length === 0) return
    console.error(`The tests left behind:\n  ${left.join('\n  ')}`)
    process.exitCode = 1
  }
}

/** Linux keeps its files in memory, where a folder is made in a tenth of the time. */
const MEMORY_FOLDER = '/dev/shm'
const NEEDED_BYTES = 4 * 2 ** 30

/** Where the folder of a run is made: in memory, if programs may run and enough is free there, and TMPDIR names no other place. */
function parentFolder(): string {
  if (process.env.TMPDIR || !existsSync(MEMORY_FOLDER)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  const isNoExec = / \/dev\/shm \S+ \S*\bnoexec\b/.test(readFileSync('/proc/mounts', 'utf8'))
  return bavail * bsize >= NEEDED_BYTES && !isNoExec ? MEMORY_FOLDER : tmpdir()
}
