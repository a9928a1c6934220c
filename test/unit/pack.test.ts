import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { SLOW } from '../harness/slow.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))
const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

test(
  'the package that npm packs names no sources, and the clone has its package.json back afterwards',
  SLOW,
  async () => {
    const folder = await temporaryFolder('salt-pack-')
    onTestFinished(() => removeFolder(folder))
    for (const file of ['package.json', 'pack.mjs']) cpSync(join(project, file), join(folder, file))
    const run = (step: string) => execFileSync(process.execPath, [join(folder, 'pack.mjs'), step])
    run('prepack')
    const { exports, imports, ...rest } = read(folder)
    expect(JSON.stringify([exports, imports])).not.toMatch(/"source"|"\.\/core\//)
    expect(exports['./client']).toEqual({
      types: './dist/core/client/index.d.ts',
      default: './dist/core/client/index.js',
    })
    const { exports: _, imports: __, ...unchanged } = read(project)
    expect(rest).toEqual(unchanged)
    run('prepack') // the one before was interrupted
    run('postpack')
    expect(read(folder)).toEqual(read(project))
    expect(existsSync(join(folder, 'package.json.clone'))).toBe(false)
  },
)
