import { stat } from 'node:fs/promises'
import path from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { counted } from '../../base/sentence.ts'
import { catalogueOf, GENERATED_HEADER } from './catalogue.ts'
import { writeGenerated } from './write-generated.ts'

/** Write the catalogue of a folder of modules, or of its subfolder `modules`. Returns the text to print. */
export async function writeTypes(given: string): Promise<string> {
  const folder = await modulesIn(given)
  const file = path.join(folder, '_catalogue.d.ts')
  const { text, names, unread } = await catalogueOf(folder)
  if (names.length === 0) throw new SaltError('FUNCTION_NOT_FOUND', emptySentence(folder, unread), { folder })
  const done = await writeGenerated(file, GENERATED_HEADER, text)
  return [
    `${done}: ${counted(names.length, 'function')}`,
    ...unread.map((reason) => `Note: left out, since it cannot be imported: ${reason}`),
  ].join('\n')
}

async function modulesIn(folder: string): Promise<string> {
  for (const name of ['modules', '_modules']) {
    const inner = path.join(folder, name)
    if ((await stat(inner).catch(() => undefined))?.isDirectory()) return inner
  }
  return folder
}

function emptySentence(folder: string, unread: readonly string[]): string {
  const reasons = unread.map((reason) => ` ${reason}`).join('')
  return `No .ts file in ${folder} exports a function.${reasons}`
}
