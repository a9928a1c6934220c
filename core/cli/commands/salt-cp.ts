import { statSync } from 'node:fs'
import { boolean } from '@oclif/core/flags'
import { LocalClient } from '../../client/index.ts'
import { filesToSend } from '../copy/local-files.ts'
import { sendChunked, sendTexts } from '../copy/send-files.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { configFlags, helpFlags, logFlags, number, outputFlags } from '../flags.ts'
import { targetOf } from '../jobs/job-request.ts'
import { targetFlags } from '../jobs/salt-flags.ts'
import { BaseProgram } from '../program/base-program.ts'
import { positionalWords } from '../program/positional-words.ts'
import { openMasterTools } from '../tools.ts'

export default class SaltCp extends BaseProgram {
  static override id = 'salt-cp'
  static override strict = false
  static override description =
    'Copy files of this host to minions. For large files, use the file server (cp.get_file).'
  static override usage = "salt-cp [options] '<target>' SOURCE [SOURCE...] DEST"
  static override examples = [
    "salt-cp '*' motd /etc/motd",
    "salt-cp -C -G 'os:Debian' site/ logo.png /srv/www/",
  ]
  static override flags = {
    ...targetFlags,
    // -C is --chunked, as in Salt.
    compound: boolean({ description: targetFlags.compound.description, helpGroup: 'TARGET' }),
    chunked: boolean({
      char: 'C',
      description: 'Send files in pieces: also binary and large ones, and folders.',
    }),
    'no-compression': boolean({ char: 'n', description: 'Do not compress these pieces.' }),
    timeout: number({
      char: 't',
      description: 'Seconds to wait before minions are asked whether they still work (config: timeout).',
    }),
    ...outputFlags,
    ...logFlags,
    ...configFlags,
    ...helpFlags,
  }

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(SaltCp)
    const [target, ...paths] = await positionalWords(raw, false)
    const dest = paths.pop()
    if (target === undefined || dest === undefined || paths.length === 0)
      throw new UsageError('Name a target, the files to copy, and where they go.', { incomplete: true })
    const { config, log, printer } = await openMasterTools('salt-cp', flags)
    if (!flags.chunked) refuseFolders(paths)
    const found = filesToSend(paths, dest)
    const recipients = { ...targetOf(target, flags), ...(flags.timeout && { timeout: flags.timeout }) }
    const client = await LocalClient.connect(config, undefined, log)
    try {
      const sent = flags.chunked
        ? await sendChunked(client, recipients, found, {
            chunkBytes: config.salt_cp_chunk_size,
            compress: !flags['no-compression'],
          })
        : await sendTexts(client, recipients, found.files, dest)
      await printer.print(sent.minions)
      if (sent.hasFailures) return exitCodes.failed
      return sent.missing.length > 0 ? exitCodes.missing : exitCodes.ok
    } finally {
      await client.close()
    }
  }
}

function refuseFolders(paths: readonly string[]): void {
  const folder = paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
  if (folder !== undefined)
    throw new UsageError(`${folder} is a folder, and only files can be copied without --chunked (-C).`)
}
