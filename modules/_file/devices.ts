/** Device files and named pipes, made by mknod(1). */
import type { Stats } from 'node:fs'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { makeParents } from './folders.ts'
import { expandHome, lstatOf, statOf } from './paths.ts'
import { asOwner, checkPermissions, type Result } from './permissions.ts'
import { forProgram, withPlace } from './place.ts'
import { normalMode } from './stats.ts'

const NAMES = { b: 'Block device', c: 'Character device', p: 'Fifo pipe' } as const
export type NodeType = keyof typeof NAMES

export interface NodeOptions {
  readonly major?: number
  readonly minor?: number
  readonly user?: unknown
  readonly group?: unknown
  readonly mode: string
}

/** Make a device file or a named pipe, with an owner and mode. Returns a result in the shape of states. */
export async function makeNode(
  given: string,
  type: NodeType,
  { major = 0, minor = 0, user, group, mode }: NodeOptions,
  context: Context,
): Promise<Result> {
  const name = await expandHome(given)
  const ret = { name, changes: {}, comment: '', result: false as boolean | null }
  const found = await lstatOf(name)
  const made = { ...ret, changes: { new: `${NAMES[type]} ${name} created.` } }
  if (found) ret.comment = `File ${name} exists and cannot be overwritten`
  else if (context.opts.test === true) return { ...made, result: null }
  else await mknod(name, type, [major, minor], mode, context)
  if (!found || isOf(found, type))
    await checkPermissions({ name, ret: null, user, group, mode, follow_symlinks: false }, context)
  return found ? ret : { ...made, result: true }
}

/** Make a device file or a named pipe, and the folders above it that are missing. */
export async function makeNodeWithParents(
  name: string,
  type: string,
  options: NodeOptions,
  context: Context,
): Promise<Result> {
  if (!Object.hasOwn(NAMES, type))
    throw new SaltInvocationError(
      `Node type unavailable: '${type}'. Available node types are character ('c'), block ('b'), and pipe ('p').`,
    )
  const { user, group } = options
  if (context.opts.test !== true) await makeParents(name, { user: asOwner(user), group: asOwner(group) })
  return makeNode(name, type as NodeType, options, context)
}

const isOf = (found: Stats | undefined, type: NodeType): boolean =>
  found !== undefined && { b: found.isBlockDevice(), c: found.isCharacterDevice(), p: found.isFIFO() }[type]

/** Whether a path is a device file or pipe of a type. */
export const isNode = async (name: string, type: NodeType): Promise<boolean> =>
  isOf(await statOf(await expandHome(name)), type)

async function mknod(
  name: string,
  type: NodeType,
  numbers: readonly number[],
  mode: string,
  context: Context,
): Promise<void> {
  const options = [`--mode=${normalMode(mode)}`, '--']
  const device = [type, ...(type === 'p' ? [] : numbers.map(String))]
  const { retcode, stderr } = await withPlace(
    name,
    async (place) => {
      const { cwd, name: word } = forProgram(place)
      return runProgram(['mknod', ...options, word, ...device], context, { cwd })
    },
    { follow: false },
  )
  if (retcode !== 0) throw new CommandExecutionError(`Could not create '${name}': ${stderr}`)
}

/** Return the major and minor number of a device file; zeros for any other. */
export async function deviceNumbers(given: string): Promise<[number, number]> {
  const found = await statOf(await expandHome(given))
  if (!found || !(found.isCharacterDevice() || found.isBlockDevice())) return [0, 0]
  const device = BigInt(found.rdev)
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn)
  return [Number(major), Number(minor)]
}
