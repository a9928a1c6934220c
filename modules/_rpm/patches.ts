import type { Context } from 'salt-ts'
import { readManager } from './manager.ts'

export type Patches = Record<string, { installed: boolean; summary: string[] }>

/** List the advisories of the repositories, each with its packages. One is installed if all of these are. */
export async function listPatches(installedOnly: boolean, context: Context): Promise<Patches> {
  const { stdout } = await readManager(['--quiet', 'updateinfo', 'list', 'all'], context)
  const patches: Patches = {}
  for (const line of stdout.split('\n').filter((one) => one.trim() !== '')) {
    const [, mark, id, , name] = /^([i| ]) (\S+) +(\S+) +(\S+)/.exec(line) ?? []
    if (id === undefined || name === undefined) {
      context.log.warn(`Skipped a line of the list of advisories: ${line}`)
      continue
    }
    const patch = patches[id] ?? { installed: true, summary: [] }
    patches[id] = { installed: patch.installed && mark === 'i', summary: [...patch.summary, name] }
  }
  if (!installedOnly) return patches
  return Object.fromEntries(Object.entries(patches).filter(([, { installed }]) => installed))
}
