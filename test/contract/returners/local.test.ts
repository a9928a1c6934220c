import { vi } from 'vitest'
import { fromRecordJson } from '../../../core/dialect/record-json.ts'
import { returnerContract } from '../returner.ts'

await returnerContract({
  name: 'local',
  async prepare() {
    const printed: Record<string, unknown>[] = []
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
      for (const line of String(text).trimEnd().split('\n'))
        if (line.startsWith('{')) printed.push(fromRecordJson(line) as Record<string, unknown>)
      for (const done of rest) if (typeof done === 'function') done()
      return true
    })
    return {
      config: {},
      rows: async (jid, id) => printed.filter((record) => record.jid === jid && record.id === id),
      events: async (tag) => printed.filter((record) => record.tag === tag),
      drop: async () => write.mockRestore(),
    }
  },
})
