/** The functions that `file_roots` and `pillar_roots` have in common. */
import { join } from 'node:path'
import { fn, p, SaltInvocationError } from 'salt-ts'
import { filesAt, insidePath, type RootsOption, rootsIn } from './roots.ts'
import { looksLikeText, readText } from './text.ts'
import { type Tree, treeOf } from './tree.ts'
import { writeInside } from './write.ts'

const saltenv = p.default(p.string(), 'base')
const path = p.string({ minLength: 1 })

/** Make `find`, which returns `[{<full path>: 'txt' | 'bin'}]`: the files at a path, from all roots in their order. */
export const finder = (option: RootsOption) =>
  fn({ path, saltenv }, async ({ path, saltenv }, { opts }) => {
    const found: Record<string, 'txt' | 'bin'>[] = []
    for await (const { full, file } of filesAt(rootsIn(opts, option).get(saltenv) ?? [], insidePath(path)))
      found.push({ [full]: (await looksLikeText(file.handle)) ? 'txt' : 'bin' })
    return found
  })

/** Make `read`, which returns `[{<full path>: <text>}]` without binary files. */
export const reader = (option: RootsOption) =>
  fn({ path, saltenv }, async ({ path, saltenv }, { opts }) => {
    const texts: Record<string, string>[] = []
    for await (const { full, file } of filesAt(rootsIn(opts, option).get(saltenv) ?? [], insidePath(path))) {
      const text = await readText(file)
      if (text !== undefined) texts.push({ [full]: text })
    }
    return texts
  })

/** Make `list_env`, which returns directory → contents. */
export const lister = (option: RootsOption) =>
  fn({ saltenv }, ({ saltenv }, { opts }) => treesOf(rootsIn(opts, option).get(saltenv) ?? []))

/** Make `list_roots`, which returns environment → a list with one map: directory → contents. */
export const allLister = (option: RootsOption) =>
  fn(async (_, { opts }) => {
    const environments = [...rootsIn(opts, option)]
    const rows = environments.map(async ([saltenv, roots]) => [saltenv, [await treesOf(roots)]] as const)
    return Object.fromEntries(await Promise.all(rows))
  })

/** Make `write`, which returns a sentence with the path of the written file. */
export const writer = (option: RootsOption) =>
  fn(
    { data: p.string(), path, saltenv, index: p.default(p.integer({ minimum: 0 }), 0) },
    async ({ data, path, saltenv, index }, { opts }) => {
      if (opts.wheel_write_roots !== true) throw new SaltInvocationError(switchedOff(option))
      const inside = insidePath(path)
      const root = rootsIn(opts, option).get(saltenv)?.[index]
      if (root === undefined)
        throw new SaltInvocationError(
          `${option} of the master has no directory with index ${index} for '${saltenv}'.`,
        )
      await writeInside(root, inside, data)
      return `Wrote data to file ${join(root, inside)}`
    },
  )

async function treesOf(roots: readonly string[]): Promise<Record<string, Tree>> {
  const trees = await Promise.all(roots.map(async (root) => [root, await treeOf(root)] as const))
  return Object.fromEntries(trees)
}

const switchedOff = (option: RootsOption): string =>
  `${option}.write is disabled, because files there decide what minions run. To allow it, set ` +
  'wheel_write_roots: true in the configuration of the master.'
