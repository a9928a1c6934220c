/** Checks of what pip is to use, with Salt's words. */
import { stat } from 'node:fs/promises'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'

const isUrl = (text: string): boolean => /^(?:https?|ftp|file):/i.test(text)

interface Indexes {
  readonly no_index: boolean
  readonly index_url?: string | undefined
  readonly extra_index_url?: string | undefined
}

/** Check the addresses of indexes. @throws CommandExecutionError */
export function checkIndexes({ no_index, index_url, extra_index_url }: Indexes): void {
  const urls = [index_url, extra_index_url].filter((url): url is string => Boolean(url))
  if (no_index && urls.length > 0)
    throw new CommandExecutionError(
      "'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.",
    )
  const wrong = urls.find((url) => !isUrl(url))
  if (wrong !== undefined) throw new CommandExecutionError(`'${wrong}' is not a valid URL`)
}

/** Check that each link is an address or a path that exists. @throws CommandExecutionError */
export async function checkLinks(links: readonly string[]): Promise<void> {
  for (const link of links)
    if (!isUrl(link) && !(await stat(link).catch(() => undefined)))
      throw new CommandExecutionError(`'${link}' is not a valid URL or path`)
}

/** Check that packages to install as editable are local, or named by `#egg=`. @throws CommandExecutionError */
export function checkEditables(entries: readonly string[]): void {
  const isNamed = (entry: string) => entry === '.' || /^(?:file:\/\/|\/)|#(?:.*?&)?egg=[^&]/.test(entry)
  if (!entries.every(isNamed)) throw new CommandExecutionError('You must specify an egg for this editable')
}

/** Return the words of extra arguments: each is a word, or a map of one option to its value. @throws SaltInvocationError */
export function extraWords(args: readonly unknown[]): string[] {
  return args.flatMap((arg) => {
    if (typeof arg !== 'object' || arg === null) return [String(arg)]
    const pairs = Object.entries(arg)
    const [[key, value] = ['', '']] = pairs
    if (pairs.length !== 1 || typeof value === 'object')
      throw new SaltInvocationError(`Each of extra_args is a word, or one option and its value: ${key}`)
    return [key, String(value)]
  })
}
