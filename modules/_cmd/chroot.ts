import { execFile } from 'node:child_process'
import { readdir, readlink, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CommandExecutionError, type Context } from 'salt-ts'
import type { CommandLine, Options, ProcessResult } from './params.ts'
import { runCommand } from './run.ts'
import { isProgram } from './which.ts'

const run = promisify(execFile)

interface Mount {
  readonly target: string
  readonly args: readonly string[]
}

/**
 * Run a command inside a chroot, with /dev, /proc, /sys and `binds` mounted meanwhile. Ends the processes in the chroot
 * and unmounts everything afterwards, also after an error.
 */
export async function runInChroot(
  root: string,
  command: CommandLine,
  binds: readonly string[],
  options: Options,
  context: Context,
): Promise<ProcessResult> {
  await checkRoot(root)
  const { runas, group, ...rest } = options
  const words = await chrootWords(root, command, runas, group)
  const mounted: string[] = []
  try {
    for (const { target, args } of mountsFor(root, binds)) {
      await mount(args)
      mounted.push(target)
    }
    return await runCommand(words, { ...rest, runas: undefined, group: undefined }, context, {
      merged: false,
    })
  } finally {
    await endProcesses(root, context)
    for (const target of mounted.reverse()) await unmount(target, context)
  }
}

/** Return the file systems to mount in a chroot, in mount order, as arguments of mount(8). */
function mountsFor(root: string, binds: readonly string[]): Mount[] {
  const system: [type: string, folder: string][] = [
    ['devtmpfs', 'dev'],
    ['proc', 'proc'],
    ['sysfs', 'sys'],
  ]
  const own = system.map(([type, folder]) => {
    const target = join(root, folder)
    return { target, args: ['-t', type, type, target] }
  })
  const bound = binds.map((source) => {
    const target = join(root, relative('/', source))
    return { target, args: ['--bind', source, target] }
  })
  return [...own, ...bound]
}

async function checkRoot(root: string): Promise<void> {
  const isFolder = isAbsolute(root) && (await stat(root).catch(() => undefined))?.isDirectory()
  if (!isFolder || join(root, '.') === '/') {
    throw new CommandExecutionError(
      `The chroot '${root}' must be an existing directory with an absolute path, not /`,
    )
  }
  if (process.getuid?.() !== 0) {
    throw new CommandExecutionError('cmd.run_chroot mounts file systems, so the minion must run as root')
  }
}

// chroot(1) looks the user up inside the chroot.
async function chrootWords(
  root: string,
  command: CommandLine,
  runas?: string,
  group?: string,
): Promise<string[]> {
  const shell = (await isProgram(join(root, 'bin/bash'))) ? '/bin/bash' : '/bin/sh'
  const user = runas === undefined ? [] : [`--userspec=${runas}:${group ?? ''}`]
  const inside = Array.isArray(command) ? command.map(String) : [shell, '-c', String(command)]
  return ['chroot', ...user, root, ...inside]
}

async function mount(args: readonly string[]): Promise<void> {
  try {
    await run('mount', [...args])
  } catch (cause) {
    throw new CommandExecutionError(
      `mount ${args.join(' ')} failed: ${(cause as { stderr?: string }).stderr?.trim()}`,
    )
  }
}

async function unmount(target: string, { log }: Context): Promise<void> {
  try {
    await run('umount', [target])
  } catch (cause) {
    log.error(`Could not unmount ${target}: ${(cause as { stderr?: string }).stderr?.trim()}`)
  }
}

async function endProcesses(root: string, { log }: Context): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGTERM', 'SIGTERM', 'SIGKILL', 'SIGKILL', 'SIGKILL'] as const) {
    const inside = await processesIn(root)
    if (inside.length === 0) return
    for (const pid of inside) signalTo(pid, signal)
    await sleep(100)
  }
  if ((await processesIn(root)).length > 0) {
    log.error('Processes running in chroot could not be killed, filesystem will remain mounted')
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended since it was found.
  }
}

async function processesIn(root: string): Promise<number[]> {
  const path = await realpath(root)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const roots = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/root`).catch(() => '')))
  return pids.filter((_, index) => roots[index] === path).map(Number)
}
