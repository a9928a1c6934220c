import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Context } from 'salt-ts'
import { inTurn } from '../_lock/in-turn.ts'
import { pythonText } from '../_values/python.ts'
import { attempt, expandHome } from './paths.ts'
import { heldFile, type Place, refuseForeignName, withPlace } from './place.ts'
import { readWhole } from './reading.ts'
import { extendFile, writeContent } from './text.ts'

/** Other values than text are written as Python does: a typed `[a]` as `['a']`. */
const joined = (lines: readonly unknown[]): string => lines.map((line) => `${pythonText(line)}\n`).join('')

/** Append lines, after a line end if the last line has none. The file has to exist. */
export async function appendLines(given: string, lines: readonly unknown[]): Promise<string> {
  const path = await expandHome(given)
  await withPlace(path, async (place) => {
    refuseForeignName(place)
    await append(place, lines)
  })
  return `Wrote ${lines.length} lines to "${path}"`
}

async function append(place: Place, lines: readonly unknown[]): Promise<void> {
  const { path } = place
  const { O_RDWR, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants
  const file = await attempt(open(heldFile(place).at, O_RDWR | O_APPEND | O_NONBLOCK | O_NOCTTY), path)
  try {
    const { size } = await file.stat()
    const { buffer } = size > 0 ? await file.read(Buffer.alloc(1), 0, 1, size - 1) : { buffer: '\n' }
    const added = Buffer.from((buffer.toString() === '\n' ? '' : '\n') + joined(lines))
    await attempt(extendFile(file, added, size), path)
  } finally {
    await file.close()
  }
}

/** Put lines before the content of a file. */
export async function prependLines(
  given: string,
  lines: readonly unknown[],
  context: Context,
): Promise<string> {
  const path = await expandHome(given)
  const prepend = async (place: Place): Promise<void> => {
    const content = place.file?.stats.isFile() ? await readWhole(place.file.at, path) : Buffer.alloc(0)
    await writeContent(place, Buffer.concat([Buffer.from(joined(lines)), content]))
  }
  await inTurn(path, context, () => withPlace(path, prepend))
  return `Prepended ${lines.length} lines to "${path}"`
}

/** Replace the content of a file by lines. */
export async function writeLines(given: string, lines: readonly unknown[]): Promise<string> {
  const path = await expandHome(given)
  await withPlace(path, (place) => writeContent(place, joined(lines)))
  return `Wrote ${lines.length} lines to "${path}"`
}
