/** Load and remove modules of the kernel. */
import { readdir } from 'node:fs/promises'
import os from 'node:os'
import { basename, join } from 'node:path'
import { CommandExecutionError, type Context, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { linesOf, rewrite, textOf } from './_host/files.ts'
import { type LoadedModule, readModules } from './_host/loaded-modules.ts'
import { run } from './_host/programs.ts'

const mod = p.string({ description: 'The name of a module; parameters may follow it.' })
const persist = p.default(p.boolean(), false)

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The kmod module works only on Linux'

/**
 * List the modules that the running kernel has or can load, sorted.
 *
 * @example salt '*' kmod.available
 */
export const available = fn(() => availableModules())

/**
 * True if the running kernel has or can load a module.
 *
 * @example salt '*' kmod.check_available kvm
 */
export const check_available = fn({ mod }, async ({ mod }) => (await availableModules()).includes(mod))

/**
 * Return the loaded modules, with what uses them.
 *
 * @example salt '*' kmod.lsmod
 */
export const lsmod = fn(() => loadedModules())

/**
 * List the loaded modules, sorted, or those that are loaded at each start.
 *
 * @example salt '*' kmod.mod_list
 * @example salt '*' kmod.mod_list only_persist=True
 */
export const mod_list = fn(
  { only_persist: p.default(p.boolean(), false) },
  async ({ only_persist }, context) => {
    if (only_persist) return persistentModules(context)
    return (await loadedModules()).map(({ module }) => module).sort()
  },
)

/**
 * Load a module, with `persist` also at each start. Returns the modules that were added, or a text about the failure.
 *
 * @example salt '*' kmod.load kvm
 * @example salt '*' kmod.load 'loop max_loop=8' persist=True
 */
export const load = fn({ mod, persist }, async ({ mod, persist }, context) => {
  const before = await loadedModules()
  const { retcode, stderr } = await run([await program('modprobe'), ...wordsOf(mod)], context)
  if (retcode !== 0) return `Error loading module ${mod}: ${stderr}`
  const added = difference(await loadedModules(), before)
  return union(added, persist ? await addPersistent(mod, context) : [])
})

/**
 * True if a module is loaded.
 *
 * @example salt '*' kmod.is_loaded kvm
 */
export const is_loaded = fn({ mod }, async ({ mod }) =>
  (await loadedModules()).some(({ module }) => module === mod),
)

/**
 * Remove a module, with `persist` also from those that are loaded at each start: its line is commented out, or with
 * `comment=False` removed. Returns the modules that were removed, or a text about the failure.
 *
 * @example salt '*' kmod.remove kvm
 */
export const remove = fn(
  { mod, persist, comment: p.default(p.boolean(), true) },
  async ({ mod, persist, comment }, context) => {
    const before = await loadedModules()
    const { retcode, stderr } = await run([await program('rmmod'), ...wordsOf(mod)], context)
    if (retcode !== 0) return `Error removing module ${mod}: ${stderr}`
    const removed = difference(before, await loadedModules())
    return union(removed, persist ? await removePersistent(mod, comment, context) : [])
  },
)

async function loadedModules(): Promise<LoadedModule[]> {
  return readModules((await textOf('/proc/modules')) ?? '')
}

async function availableModules(): Promise<string[]> {
  const folder = join('/lib/modules', os.release())
  const builtIn = (await linesOf(join(folder, 'modules.builtin'))).map((line) => basename(line, '.ko'))
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  const loadable = files
    .map((path) => basename(path))
    .filter((name) => name.includes('.ko'))
    .map((name) => name.slice(0, name.indexOf('.ko')).replaceAll('-', '_'))
  return [...builtIn, ...loadable].sort()
}

const configFile = ({ grains }: Context): string =>
  grains.systemd === undefined ? '/etc/modules' : '/etc/modules-load.d/salt_managed.conf'

async function persistentModules(context: Context): Promise<string[]> {
  const lines = (await linesOf(configFile(context))).filter((line) => !line.trim().startsWith('#'))
  return [...new Set(lines.map(nameOf))].sort()
}

async function addPersistent(mod: string, context: Context): Promise<string[]> {
  const name = nameOf(mod)
  if ((await persistentModules(context)).includes(name) || !(await availableModules()).includes(name))
    return []
  const lines = await linesOf(configFile(context))
  const at = lines.findIndex((line) => /^#/.test(line) && line.replace(/^#\s*/, '').trim() === mod)
  const line = wordsOf(mod).join(' ')
  const changed = at < 0 ? [...lines, line] : lines.with(at, line)
  await rewrite(configFile(context), `${changed.join('\n')}\n`)
  return [name]
}

async function removePersistent(mod: string, comment: boolean, context: Context): Promise<string[]> {
  const name = nameOf(mod)
  if (!(await persistentModules(context)).includes(name)) return []
  const text = (await textOf(configFile(context))) ?? ''
  const changed = text.split('\n').flatMap((line) => {
    if (nameOf(line) !== name) return [line]
    return comment ? [`#${line}`] : []
  })
  await rewrite(configFile(context), changed.join('\n'))
  return [name]
}

async function program(name: string): Promise<string> {
  const path = await which(name)
  if (path === null) throw new CommandExecutionError(`Command '${name}' cannot be found`)
  return path
}

function wordsOf(mod: string): string[] {
  const words = mod.split(/\s+/).filter(Boolean)
  // modprobe also finds options behind the name, such as another folder of configuration, which may run commands.
  if (words.length > 0 && !words.some((word) => word.startsWith('-'))) return words
  throw new CommandExecutionError(`'${mod}' is not the name of a module`)
}

const nameOf = (mod: string): string => mod.trim().split(/\s+/)[0] ?? ''

function difference(more: readonly LoadedModule[], fewer: readonly LoadedModule[]): string[] {
  const known = new Set(fewer.map(({ module }) => module))
  return more.map(({ module }) => module).filter((name) => !known.has(name))
}

const union = (one: readonly string[], other: readonly string[]): string[] =>
  [...new Set([...one, ...other])].sort()
