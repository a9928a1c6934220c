/** Appends returns and events to a file as JSON, one per line. */
import { open } from 'node:fs/promises'
import { p, recordJson, returner } from 'salt-ts'

export default returner({
  options: { filename: p.default(p.string({ minLength: 1 }), '/var/log/salt/events') },
  create: ({ options: { filename } }) => {
    /** Append records with a single write. Resolves when they are on disk. */
    async function append(records: readonly unknown[]): Promise<void> {
      const file = await open(filename, 'a', 0o600)
      try {
        await file.appendFile(records.map((record) => `${recordJson(record)}\n`).join(''))
        await file.datasync()
      } finally {
        await file.close()
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
