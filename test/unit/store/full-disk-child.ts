/** Opens a store on a small disk, fills the disk, and changes the store again and again. Says how that went. */
import { join } from 'node:path'
import { messageOf } from '../../../core/base/errors.ts'
import { openStore } from '../../../core/store/index.ts'
import { mountSmallDisk } from '../../harness/small-disk.ts'

const [folder = ''] = process.argv.slice(2)
const disk = mountSmallDisk(folder, 4)
const store = openStore(join(folder, 'test.mdb'))
const put = (value: number) =>
  store.change((records) => records.put(['key', value], 'x'.repeat(5000))).then(() => 'stored', messageOf)
const outcomes = [await put(0)]
disk.fill()
for (let n = 1; n <= 20; n++) outcomes.push(await put(n))
disk.makeRoom()
outcomes.push(await put(21))
await store.close()
disk.close()
process.stdout.write(JSON.stringify(outcomes))
