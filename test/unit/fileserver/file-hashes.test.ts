import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ServedFile } from '../../../core/author/files.ts'
import { openInside } from '../../../core/base/files/open-inside.ts'
import { FileHashes } from '../../../core/fileserver/file-hashes.ts'
import { FileRoots } from '../../harness/file-roots.ts'

test('a file that could not be read is read again with the next request', async () => {
  const roots = await FileRoots.make()
  await writeFile(join(roots.base, 'file'), 'in base')
  await roots.age('salt/file')
  const hashes = new FileHashes('sha256')
  const file = (await openInside(join(roots.base, 'file'), [roots.base])) as ServedFile
  try {
    const read = () => Promise.reject(new Error('EIO: i/o error, read'))
    const stat: typeof file.handle.stat = file.handle.stat.bind(file.handle)
    const failing = { ...file, handle: { read, stat } } as unknown as ServedFile
    await expect(hashes.of(failing)).rejects.toThrow('EIO')
    expect(await hashes.of(file)).toMatch(/^[0-9a-f]{64}$/)
  } finally {
    await file.handle.close()
    await roots.remove()
  }
})
