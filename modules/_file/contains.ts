import { CommandExecutionError } from 'salt-ts'
import { fnmatch } from '#internal'
import { expandHome, isFile } from './paths.ts'
import { searchFor } from './patterns.ts'
import { anyWindow, rawLines, withFile } from './reading.ts'

/** Whether a file contains a text. A file that cannot be read does not. */
export const containsText = (given: string, text: string, signal: AbortSignal): Promise<boolean> => {
  const wanted = Buffer.from(text.trim())
  return ifReadable(given, (path) => anyWindow(path, (window) => window.includes(wanted), signal))
}

/** Whether a shell pattern matches the content of a file, or of a window of it. */
export const containsGlob = (given: string, glob: string, signal: AbortSignal): Promise<boolean> =>
  ifReadable(given, (path) => anyWindow(path, (window) => fnmatch(window.toString(), glob), signal))

/** Whether a line of a file matches a pattern; `lchar` are characters that are removed from its beginning first. */
export const containsLine = (
  given: string,
  pattern: string,
  lchar: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const search = searchFor(pattern)
  return ifReadable(given, (path) =>
    withFile(path, async (file) => {
      for await (const lines of rawLines(file)) {
        signal.throwIfAborted()
        const texts = lines.map((line) => stripped(Buffer.from(line, 'latin1').toString(), lchar))
        if (search.foundIn(texts).includes(true)) return true
      }
      return false
    }),
  )
}

function stripped(line: string, characters: string): string {
  let from = 0
  while (from < line.length && characters.includes(line[from] as string)) from++
  return line.slice(from)
}

async function ifReadable(given: string, test: (path: string) => Promise<boolean>): Promise<boolean> {
  const path = await expandHome(given)
  if (!(await isFile(path))) return false
  return test(path).catch((error) => {
    if (error instanceof CommandExecutionError && error.message.startsWith('[Errno')) return false
    throw error
  })
}
