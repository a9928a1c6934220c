/** Appends returns and events to a file as JSON, one per line. */
import { open, stat } from 'node:fs/promises'
import { p, recordJson, returner } from 'salt-ts'
import { messageOf } from '#internal'

const NEWLINE = 0x0a

export default returner({
  options: { filename: p.default(p.string({ minLength: 1 }), '/var/log/salt/events') },
  create: ({ options: { filename } }) => {
    /**
     * Append records with a single write. Resolves when they are on disk. What a full disk or a killed process left of a line gets a
     * line of its own.
     */
    async function append(records: readonly unknown[]): Promise<void> {
      const lines = records.map((record) => `${recordJson(record)}\n`).join('')
      try {
        await appendDurably(filename, (await endsInLine(filename)) ? `\n${lines}` : lines)
      } catch (error) {
        throw new Error(`The file ${filename} cannot be written: ${messageOf(error)}`, { cause: error })
      }
    }
    return {
      idempotent: false,
      save: (ret) => append([ret]),
      saveBatch: append,
      saveEvents: append,
    }
  },
})

async function appendDurably(filename: string, text: string): Promise<void> {
  const file = await open(filename, 'a', 0o600)
  try {
    await file.appendFile(text)
    await file.datasync()
  } finally {
    await file.close()
  }
}

/** Whether the last line of a file has no end. */
async function endsInLine(filename: string): Promise<boolean> {
  const found = await stat(filename).catch(() => undefined)
  if (!found?.isFile() || found.size === 0) return false
  const file = await open(filename)
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, found.size - 1)
    return buffer[0] !== NEWLINE
  } finally {
    await file.close()
  }
}
