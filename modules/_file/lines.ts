import { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { attempt, expandHome } from './paths.ts'
import { writeContent } from './text.ts'

const joined = (lines: readonly unknown[]): string => lines.map((line) => `${line}\n`).join('')

/** Append lines, after a line end if the last line has none. The file has to exist. */
export async function appendLines(given: string, lines: readonly unknown[]): Promise<string> {
  const path = await expandHome(given)
  const file = await attempt(open(path, constants.O_RDWR | constants.O_APPEND))
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    const gap = size > 0 && buffer.toString() !== '\n' ? '\n' : ''
    await attempt(file.writeFile(gap + joined(lines)))
  } finally {
    await file.close()
  }
  return `Wrote ${lines.length} lines to "${path}"`
}

/** Put lines before the content of a file. */
export async function prependLines(given: string, lines: readonly unknown[]): Promise<string> {
  const path = await expandHome(given)
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    return attempt(Promise.reject(error))
  })
  await writeContent(path, Buffer.concat([Buffer.from(joined(lines)), content]))
  return `Prepended ${lines.length} lines to "${path}"`
}

/** Replace the content of a file by lines. */
export async function writeLines(given: string, lines: readonly unknown[]): Promise<string> {
  const path = await expandHome(given)
  await writeContent(path, joined(lines))
  return `Wrote ${lines.length} lines to "${path}"`
}
