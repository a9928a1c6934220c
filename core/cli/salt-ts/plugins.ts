/**
 * Plugins of `salt-ts`: oclif plugins called `salt-ts-plugin-*`, also in a scope, that npm installed beside salt-ts.
 * They are found by name, since a global installation has no manifest that lists them.
 */
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { Plugin } from '@oclif/core/config'
import { messageOf } from '../../base/errors.ts'
import { packageRoot } from '../../process/own-package.ts'
import { printNote } from '../output/console.ts'

const NAME = /^salt-ts-plugin-/

/** Load all plugins. Those that cannot be loaded are left out with a warning. */
export async function loadPlugins(): Promise<Map<string, Plugin>> {
  const loaded = new Map<string, Plugin>()
  for (const [name, root] of await found()) {
    const plugin = await load(name, root)
    if (plugin) loaded.set(name, plugin)
  }
  return loaded
}

async function load(name: string, root: string): Promise<Plugin | undefined> {
  try {
    const plugin = new Plugin({ name, root, type: 'link', errorOnManifestCreate: true })
    await plugin.load()
    if (plugin.valid) return plugin
    throw new Error(`${path.join(root, 'package.json')} has no "oclif" section.`)
  } catch (error) {
    printNote(`WARNING: The plugin ${name} of salt-ts is left out: ${messageOf(error).split('\n')[0]}`)
    return undefined
  }
}

/** Return plugin name → folder; the first folder with the name counts. */
async function found(): Promise<Map<string, string>> {
  const packages = new Map<string, string>()
  for (const folder of moduleFolders())
    for (const name of await namesIn(folder))
      if (!packages.has(name)) packages.set(name, path.join(folder, name))
  return packages
}

/**
 * List the folders that may hold plugins: those of packages beside salt-ts, and beside the link in `.bin` that
 * started this program.
 */
function moduleFolders(): string[] {
  const beside = path.dirname(packageRoot)
  const started = path.dirname(process.argv[1] ?? '')
  const folders = [
    ...(path.basename(started) === '.bin' ? [path.dirname(started)] : []),
    ...(path.basename(beside) === 'node_modules' ? [beside] : []),
    path.join(packageRoot, 'node_modules'),
  ]
  return [...new Set(folders)]
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await list(folder)
  const scopes = entries.filter((entry) => entry.startsWith('@'))
  const scoped = await Promise.all(
    scopes.map(async (scope) =>
      (await list(path.join(folder, scope)))
        .filter((name) => NAME.test(name))
        .map((name) => `${scope}/${name}`),
    ),
  )
  return [...entries.filter((name) => NAME.test(name)), ...scoped.flat()]
}

const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
