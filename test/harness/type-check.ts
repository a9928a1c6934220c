import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))

/** Check the types of a folder that has a tsconfig.json, and return what `tsc` prints in it. */
export async function typeCheck(folder: string): Promise<string> {
  const { stdout } = await execa(tsc, ['--noEmit', '--pretty', 'false'], { cwd: folder, reject: false })
  return stdout
}
