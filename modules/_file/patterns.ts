/** Regular expressions of callers, with the flags of Python's `re`. */
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { type PythonSearch, pythonSearch } from '#internal'

/** Compile a pattern of a caller. @throws SaltInvocationError with what is wrong with it, then or when it is used */
export function searchFor(pattern: string, flags = ''): PythonSearch {
  const search = told(() => pythonSearch(pattern, flags))
  return {
    found: (text) => told(() => search.found(text)),
    begins: (text) => told(() => search.begins(text)),
    groups: (...given) => told(() => search.groups(...given)),
    foundIn: (texts) => told(() => search.foundIn(texts)),
    beginsIn: (texts) => told(() => search.beginsIn(texts)),
    replace: (...given) => told(() => search.replace(...given)),
  }
}

function told<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if ((error as { code?: unknown }).code === 'TARGET_INVALID')
      throw new SaltInvocationError((error as Error).message)
    throw error
  }
}

/** Python's numbers of the flags of `re`, and the letters of the inline flags; null for those without effect here. */
const FLAGS: readonly (readonly [names: readonly string[], bit: number, letter: string])[] = [
  [['IGNORECASE', 'I'], 2, 'i'],
  [['LOCALE', 'L'], 4, ''],
  [['MULTILINE', 'M'], 8, 'm'],
  [['DOTALL', 'S'], 16, 's'],
  [['UNICODE', 'U'], 32, ''],
  [['VERBOSE', 'X'], 64, 'x'],
  [['ASCII', 'A'], 256, 'a'],
]

/** Return the letters of flags as Salt takes them: a number (8 is MULTILINE), a name, or a list of names. */
export function flagLetters(flags: unknown): string {
  if (typeof flags === 'number') return FLAGS.map(([, bit, letter]) => (flags & bit ? letter : '')).join('')
  const names = typeof flags === 'string' ? [flags] : flags
  if (!Array.isArray(names))
    throw new CommandExecutionError(
      `Invalid re flags: "${String(flags)}", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`,
    )
  return names.map((name) => letterOf(String(name))).join('')
}

function letterOf(name: string): string {
  const known = FLAGS.find(([names]) => names.includes(name.toUpperCase()))
  if (known) return known[2]
  throw new CommandExecutionError(`Invalid re flag given: ${name}`)
}
