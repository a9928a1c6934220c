/** The SELinux context of files, by stat(1), chcon(1) and restorecon(8). */
import { CommandExecutionError, type Context } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { forProgram, heldFile, heldForProgram, refuseForeignName, withPlace } from './place.ts'

/** Parts of a context; those that are left out stay as they are. */
export interface Label {
  readonly user?: string | undefined
  readonly role?: string | undefined
  readonly type?: string | undefined
  readonly range?: string | undefined
}

const PARTS = ['user', 'role', 'type', 'range'] as const
const OPTIONS = { user: '-u', role: '-r', type: '-t', range: '-l' } as const

export const wantsLabel = (label: Label): boolean => PARTS.some((part) => label[part])

/** Return the context of a file as text, else a sentence. */
export async function contextOf(path: string, context: Context): Promise<string> {
  const { retcode, stdout } = await runProgram(['stat', '-c', '%C', '--', path], context)
  return retcode === 0 ? stdout : `No selinux context information is available for ${path}`
}

/** Set parts of the context of a file, and return the new one; false if nothing is given, or chcon fails. */
export async function setContext(
  path: string,
  label: Label,
  persist: boolean,
  context: Context,
): Promise<string | false> {
  if (!wantsLabel(label)) return false
  if (persist)
    throw new CommandExecutionError(
      `The context of ${path} cannot be kept in the policy: this minion has no selinux.fcontext_add_policy. Leave persist out, and run semanage fcontext`,
    )
  const words = PARTS.flatMap((part) => (label[part] ? [OPTIONS[part], label[part]] : []))
  const { retcode } = await withPlace(path, async (place) => {
    refuseForeignName(place)
    return runProgram(['chcon', ...words, '--', heldForProgram(heldFile(place).at)], context)
  })
  return retcode === 0 && contextOf(path, context)
}

/** Give a file the context that the policy has for it; with `recursive` also all below a folder. */
export async function restoreContext(path: string, recursive: boolean, context: Context): Promise<boolean> {
  const { retcode } = await withPlace(path, (place) => {
    refuseForeignName(place)
    heldFile(place)
    const { cwd, name } = forProgram(place)
    return runProgram(['restorecon', recursive ? '-FR' : '-F', '--', name], context, { cwd })
  })
  return retcode === 0
}

/** Parse a context. Undefined for a file that has none. */
async function partsOf(path: string, context: Context): Promise<Label | undefined> {
  const { retcode } = context
  const [user, role, type, ...range] = (await contextOf(path, context)).split(':')
  context.retcode = retcode
  return range.length === 0 ? undefined : { user, role, type, range: range.join(':') }
}

/** List the parts of a label that a file does not have; undefined if it has no context. */
export async function labelChanges(path: string, label: Label, context: Context): Promise<Label | undefined> {
  const current = await partsOf(path, context)
  if (!current) return undefined
  return Object.fromEntries(
    PARTS.filter((part) => label[part] && label[part] !== current[part]).map((part) => [part, label[part]]),
  )
}

/** Give a file a label for `file.check_perms`, and note what changed, or why not. */
export async function changeLabel(
  path: string,
  label: Label,
  changes: Record<string, unknown>,
  comments: string[],
  context: Context,
): Promise<void> {
  const before = await partsOf(path, context)
  const wanted = before && (await labelChanges(path, label, context))
  if (!wanted) comments.push('Failed to get selinux attributes')
  else if (wantsLabel(wanted)) {
    const isSet = context.opts.test === true || (await setContext(path, wanted, false, context)) !== false
    if (isSet) changes.selinux = { Old: shown(before, wanted), New: shown(wanted, wanted) }
    else comments.push('Failed to set selinux attributes')
  }
}

const shown = (label: Label, of: Label): string =>
  PARTS.filter((part) => of[part])
    .map((part) => `${part.replace(/^./, (letter) => letter.toUpperCase())}: ${label[part]}`)
    .join(' ')
