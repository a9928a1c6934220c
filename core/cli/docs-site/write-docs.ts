/** What `salt-ts docs` does. */
import { SaltError } from '../../base/errors.ts'
import { counted } from '../../base/sentence.ts'
import { documentedFleet } from './documented-fleet.ts'
import { documentedFolders, kindFoldersIn } from './documented-folder.ts'
import { type DocumentedFile, overview, pageOf } from './function-page.ts'
import { html } from './html.ts'
import { writeSite } from './write-site.ts'

/** Write the site of a folder of extensions. Returns the text to print. */
export async function writeFolderDocs(
  folder: string,
  out: string,
  options: { readonly loadMs?: number } = {},
): Promise<string> {
  const { files, unread } = await documentedFolders(await kindFoldersIn(folder), options)
  if (files.length === 0)
    throw new SaltError(
      'FUNCTION_NOT_FOUND',
      `No file in ${folder} exports a function. ${unread.join(' ')}`.trim(),
      {
        folder,
      },
    )
  const said = await writeFiles(out, files, 'Extensions of Salt')
  return [said, ...unread.map((reason) => `Note: left out, since it cannot be imported: ${reason}`)].join(
    '\n',
  )
}

/** Write the site of the functions that the minions of a master offer. Returns the text to print. */
export async function writeFleetDocs(configDir: string | undefined, out: string): Promise<string> {
  const { files, minions, notes } = await documentedFleet(configDir)
  const said = await writeFiles(out, files, `Functions of ${counted(minions, 'minion')}`)
  return [said, ...notes.map((note) => `Note: ${note}`)].join('\n')
}

async function writeFiles(out: string, files: readonly DocumentedFile[], title: string): Promise<string> {
  const pages = files.map(pageOf)
  const functions = files.reduce((sum, file) => sum + file.functions.length, 0)
  const home = html`<h1>${title}</h1>\n${overview(pages)}`
  const index = await writeSite(out, { title, home, pages })
  return `${index} written: ${counted(functions, 'function')} on ${counted(pages.length, 'page')}`
}
