import { readlink, rm, symlink } from 'node:fs/promises'
import { type Context, SaltInvocationError } from 'salt-ts'
import { inTurn } from '../_lock/in-turn.ts'
import { textDiff } from './diff.ts'
import { exists, expandHome } from './paths.ts'
import { flagLetters, searchFor } from './patterns.ts'
import { type Place, withPlace } from './place.ts'
import { realPath } from './stats.ts'
import { type EditedText, editText, keepCopy, writeContent } from './text.ts'

export interface ReplaceOptions {
  readonly count: number
  readonly flags: unknown
  readonly append_if_not_found: boolean
  readonly prepend_if_not_found: boolean
  readonly not_found_content?: string | undefined
  readonly backup: string | false
  readonly dry_run: boolean
  readonly show_changes: boolean
  readonly ignore_if_missing: boolean
  readonly preserve_inode: boolean
  readonly backslash_literal: boolean
}

/** Bytes patterns of Python have the classes of ASCII. */
const searchIn = (pattern: string, flags: unknown) => searchFor(pattern, `a${flagLetters(flags)}`)

/** Find the file to edit; undefined if it is missing and that is no error. */
async function editable(given: string, ignoreIfMissing: boolean): Promise<string | undefined> {
  const path = await expandHome(given)
  if (await exists(path)) return path
  if (ignoreIfMissing) return undefined
  throw new SaltInvocationError(`File not found: ${await realPath(path)}`)
}

/** Whether a file contains a match of a pattern. */
export async function searchFile(given: string, pattern: string, flags: unknown, ignoreIfMissing: boolean) {
  const path = await editable(given, ignoreIfMissing)
  if (path === undefined) return false
  return editText(path, async ({ text }) => searchIn(pattern, flags).found(text))
}

/** Replace the matches of a pattern, and return the diff, or whether something changed. */
export async function replaceInFile(
  given: string,
  pattern: string,
  repl: string,
  options: ReplaceOptions,
  context: Context,
) {
  const path = await editable(given, options.ignore_if_missing)
  if (path === undefined) return false
  if (options.append_if_not_found && options.prepend_if_not_found)
    throw new SaltInvocationError('Only one of append and prepend_if_not_found is permitted')
  return inTurn(path, context, () =>
    editText(path, (file) => replaceText(given, file, pattern, repl, options)),
  )
}

async function replaceText(
  given: string,
  { place, text, encoding }: EditedText,
  pattern: string,
  repl: string,
  options: ReplaceOptions,
) {
  const changed = edited(text, pattern, repl, options)
  const isChanged = changed !== text
  const diff = isChanged && options.show_changes ? textDiff(text, changed) : ''
  if (isChanged && !options.dry_run) {
    if (options.backup) await keepBackup(given, place, options.backup)
    await writeContent(place, changed, { encoding, keepLinks: options.preserve_inode })
  }
  return options.show_changes ? diff : isChanged
}

function edited(text: string, pattern: string, repl: string, options: ReplaceOptions): string {
  const { count, flags, append_if_not_found, prepend_if_not_found, backslash_literal } = options
  const result = searchIn(pattern, flags).replace(text, repl, { count, literal: backslash_literal })
  if (result.replaced > 0 || !(append_if_not_found || prepend_if_not_found)) return result.text
  const content = options.not_found_content || repl
  if (searchIn(`^${escaped(content)}($|(?=\\r\\n))`, flags).found(text)) return result.text
  if (prepend_if_not_found) return `${options.not_found_content ?? repl}\n${result.text}`
  const gap = result.text === '' || result.text.endsWith('\n') ? '' : '\n'
  return `${result.text}${gap}${options.not_found_content ?? repl}\n`
}

const escaped = (text: string): string => text.replace(/[^\w\s]|_/g, '\\$&').replace(/\\_/g, '_')

/** Keep a copy beside the file, and beside a symlink by which it was named a symlink to the copy. */
async function keepBackup(given: string, place: Place, suffix: string): Promise<void> {
  await keepCopy(place, suffix)
  const beside = async ({ at, file }: Place): Promise<void> => {
    if (!file?.stats.isSymbolicLink()) return
    await rm(`${at}${suffix}`, { force: true })
    await symlink(`${await readlink(at)}${suffix}`, `${at}${suffix}`)
  }
  await withPlace(await expandHome(given), beside, { follow: false })
}
