import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

/** Folders of programs beside those in PATH: a daemon may have a short one. */
const USUAL_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/**
 * The files and programs that grains are read from. Tests give a folder that has those of another system. Small files of this host are
 * read synchronously: there are some 200, and each asynchronous call takes longer than the file. Programs may be on a file system of
 * the network, which may hang.
 */
export class Host {
  readonly #root: string
  #folders: Promise<string[]> | undefined

  constructor(root = '/') {
    this.#root = root
  }

  /** Return the path of a file of this system. */
  at(path: string): string {
    return join(this.#root, path)
  }

  /** Return the text of a file; undefined if it is missing or may not be read. */
  text(path: string): string | undefined {
    return attempt(() => readFileSync(this.at(path), 'utf8'))
  }

  /** Return the bytes of a file; none if it is missing or may not be read. */
  bytes(path: string): Buffer {
    return attempt(() => readFileSync(this.at(path))) ?? Buffer.alloc(0)
  }

  /** Return the text of a file without surrounding white space; undefined if there is none. */
  line(path: string): string | undefined {
    return this.text(path)?.replaceAll('\0', '').trim() || undefined
  }

  /** Return the sorted names in a folder; none if it does not exist. */
  names(folder: string): string[] {
    return attempt(() => readdirSync(this.at(folder)).sort()) ?? []
  }

  exists(path: string): boolean {
    return existsSync(this.at(path))
  }

  /** Return what a symbolic link holds; nothing if there is none. */
  link(path: string): string {
    return attempt(() => readlinkSync(this.at(path))) ?? ''
  }

  /** Return the path of an executable program in PATH or in the usual folders. */
  async program(name: string): Promise<string | undefined> {
    this.#folders ??= this.#foldersOfPrograms()
    for (const folder of await this.#folders) {
      const path = join(folder, name)
      const found = await stat(this.at(path)).catch(() => undefined)
      if (found?.isFile() && found.mode & 0o111) return path
    }
    return undefined
  }

  // Many are links to each other, and each would be searched for each program.
  async #foldersOfPrograms(): Promise<string[]> {
    const folders = [...(process.env.PATH?.split(':').filter(isAbsolute) ?? []), ...USUAL_FOLDERS]
    const targets = await Promise.all(
      folders.map((folder) => realpath(this.at(folder)).catch(() => undefined)),
    )
    return folders.filter((_, index) => targets[index] && targets.indexOf(targets[index]) === index)
  }

  /** Run a program by its path, in the C locale, and return what it writes. @throws Error if it fails, or when the signal is aborted */
  async run([path, ...words]: readonly [string, ...string[]], signal: AbortSignal): Promise<string> {
    const { execFile } = await import('node:child_process')
    const env = { ...process.env, LC_ALL: 'C', LANGUAGE: 'C' }
    return new Promise((resolve, reject) => {
      execFile(this.at(path), words, { env, signal, killSignal: 'SIGKILL' }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
    })
  }
}

/** Return what a function reads; undefined if it throws, since what may not be read is not there. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
