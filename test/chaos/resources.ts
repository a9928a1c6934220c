/** What daemons hold of their host: processes, open files, memory, temporary files. */
import { type Dirent, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Daemon } from '../harness/daemons.ts'
import { type ProcessInfo, usageOf } from '../harness/processes.ts'

export interface Resources {
  /** The name of each process but those that are ready for a job, sorted. */
  readonly processes: readonly string[]
  /** By daemon, how many are ready for a job. */
  readonly idle: readonly number[]
  /** Open files by the name of the process. */
  readonly descriptors: ReadonlyMap<string, number>
  readonly megabytes: number
  /** Files that are there only while something is done. */
  readonly temporary: readonly string[]
}

/** As processes that are ready for a job are named. */
const IDLE = 'salt-minion JobProcess'
/** A minion keeps one or two of them, as its last jobs ended. */
const MOST_IDLE = 2
/** Open files that a process may have more than before: connections and stores are opened when they are needed. */
const MORE_DESCRIPTORS = 10
/** What all processes together may have grown by: garbage is collected when memory is short. */
const MORE_MEGABYTES = 200

/** Caches of tools in the temporary folder. */
const CACHES = /^(salt-ts-\d+|tsx-\d+|node-compile-cache|v8-compile-cache.*)$/
/** A new file that replaces another one, a store that is being created, a job or a run that goes on. */
const TEMPORARY = /\.tmp$|\.turn$|\/proc\/[^/]+$/

export function resourcesOf(daemons: readonly Daemon[], root: string): Resources {
  const all = daemons.flatMap((daemon) =>
    daemon.processes().map((process) => ({ name: nameOf(process, daemon), usage: usageOf(process.pid) })),
  )
  const descriptors = new Map<string, number>()
  for (const { name, usage } of all)
    descriptors.set(name, Math.max(descriptors.get(name) ?? 0, usage.descriptors))
  return {
    processes: all
      .map(({ name }) => name)
      .filter((name) => name !== IDLE)
      .sort(),
    idle: daemons.map((daemon) => daemon.processes().filter(({ command }) => command === IDLE).length),
    descriptors,
    megabytes: all.reduce((sum, { usage }) => sum + usage.residentBytes / 1e6, 0),
    temporary: [
      ...filesBelow(root).filter((path) => TEMPORARY.test(path)),
      ...readdirSync(tmpdir()).filter((name) => !CACHES.test(name) && join(tmpdir(), name) !== root),
    ],
  }
}

/** Say in which way the present resources are not those of before; nothing if they are. */
export function growth(before: Resources, now: Resources): string[] {
  const found: string[] = []
  if (now.processes.join() !== before.processes.join())
    found.push(`processes: ${difference(before.processes, now.processes)}`)
  const idle = now.idle.filter((count) => count > MOST_IDLE)
  if (idle.length > 0) found.push(`${idle.join(', ')} processes of a minion are ready for a job`)
  for (const [name, count] of now.descriptors) {
    const known = before.descriptors.get(name) ?? 0
    if (count > known + MORE_DESCRIPTORS) found.push(`${name} had ${known} files open, now ${count}`)
  }
  if (now.megabytes > before.megabytes + MORE_MEGABYTES)
    found.push(`${before.megabytes.toFixed(0)} MB before, now ${now.megabytes.toFixed(0)} MB`)
  const files = now.temporary.filter((path) => !before.temporary.includes(path))
  if (files.length > 0) found.push(`temporary files: ${files.join(', ')}`)
  return found
}

function difference(before: readonly string[], now: readonly string[]): string {
  const count = (names: readonly string[], name: string) => names.filter((each) => each === name).length
  return [...new Set([...before, ...now])]
    .map((name) => ({ name, was: count(before, name), is: count(now, name) }))
    .filter(({ was, is }) => was !== is)
    .map(({ name, was, is }) => `${was} → ${is} ${name}`)
    .join(', ')
}

/** The job stays in the name of a process that runs one: at rest none does. */
const nameOf = ({ pid, command }: ProcessInfo, daemon: Daemon): string =>
  pid === daemon.pid
    ? `${daemon.program} ${daemon.options.id ?? ''}`.trim()
    : command.replace(/^\S*\/node .*/, 'node')

function filesBelow(root: string, folder = root): string[] {
  const entries = readOrEmpty(folder)
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(root, path) : [relative(root, path)]
  })
}

function readOrEmpty(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // it was removed meanwhile
  }
}
