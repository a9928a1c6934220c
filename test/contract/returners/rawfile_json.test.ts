import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromRecordJson } from '../../../core/dialect/record-json.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { returnerContract } from '../returner.ts'

await returnerContract({
  name: 'rawfile_json',
  async prepare() {
    const folder = await temporaryFolder('salt-ts-rawfile-')
    const filename = join(folder, 'returns')
    const records = async () =>
      (await readFile(filename, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => fromRecordJson(line) as Record<string, unknown>)
    return {
      config: { 'rawfile_json.filename': filename },
      rows: async (jid, id) => (await records()).filter((record) => record.jid === jid && record.id === id),
      events: async (tag) => (await records()).filter((record) => record.tag === tag),
      drop: () => removeFolder(folder),
    }
  },
})
