/** Directories of a file server in a temporary folder, with what must not be served beside them. */
import { mkdir, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FileServer, type FileServerConfig, fileRequests } from '../../core/fileserver/index.ts'
import { recordingLog } from '../../core/testing/recording-log.ts'
import { temporaryFolder } from './folder.ts'

/** The text of everything outside the roots. */
export const SECRET = 'nobody may read this'

export class FileRoots {
  readonly folder: string
  readonly logged: string[] = []

  static async make(): Promise<FileRoots> {
    const roots = new FileRoots(await realpath(await temporaryFolder('salt-roots-')))
    for (const place of ['secret', 'salt-secret/file', 'salt-secret/x/file']) await roots.write(place, SECRET)
    await roots.write('salt/file', 'in base')
    return roots
  }

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Of the environment base. */
  get base(): string {
    return join(this.folder, 'salt')
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true })
    await writeFile(join(this.folder, path), content)
  }

  async link(path: string, target: string): Promise<void> {
    await symlink(target, join(this.folder, path))
  }

  /** Give a folder or file times of long ago, as most have. */
  async age(...paths: string[]): Promise<void> {
    for (const path of paths) await utimes(join(this.folder, path), 1_700_000_000, 1_700_000_000)
  }

  config(options: Readonly<Record<string, unknown>> = {}): FileServerConfig {
    return {
      fileserver_backend: ['roots'],
      cachedir: join(this.folder, 'cache'),
      file_buffer_size: 1024,
      hash_type: 'sha256',
      file_roots: { base: [this.base] },
      ...options,
    }
  }

  /** Ask a file server with these options, as a minion does. */
  async serve(options?: Readonly<Record<string, unknown>>) {
    const config = this.config(options)
    const log = recordingLog((level, message) => {
      if (level !== 'debug') this.logged.push(`${level} ${message}`)
    })
    const requests = fileRequests(await FileServer.open(config, log), config)
    return async (cmd: string, load: Readonly<Record<string, unknown>> = {}): Promise<unknown> =>
      requests.get(cmd)?.({ cmd, saltenv: 'base', ...load })
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }
}
