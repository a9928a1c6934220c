import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { messageOf, SaltError } from '../../../base/errors.ts'

/** What `npm pack --json` says about a package. */
interface PackReport {
  readonly filename: string
  /** Paths relative to the package. */
  readonly files: readonly { readonly path: string }[]
}

/** Longest report that is read, in bytes. */
const MAX_REPORT = 64 * 1024 * 1024

/** List the files that npm would pack. */
export const listPacked = async (folder: string): Promise<readonly string[]> =>
  (await npmPack(folder, '--dry-run')).files.map(({ path }) => path)

/** Pack a folder, and return the name of the tarball in `out`. */
export const packTo = async (folder: string, out: string): Promise<string> =>
  (await npmPack(folder, '--pack-destination', out)).filename

/** Run `npm pack` without the scripts of the package. */
async function npmPack(folder: string, ...flags: readonly string[]): Promise<PackReport> {
  const words = ['pack', '--json', '--ignore-scripts', '--no-update-notifier', ...flags]
  const { stdout } = await promisify(execFile)('npm', words, { cwd: folder, maxBuffer: MAX_REPORT }).catch(
    (error: unknown) => {
      throw new SaltError('INVOCATION', sentenceFor(error, folder), { folder }, { cause: error })
    },
  )
  const [report] = Object.values(JSON.parse(stdout) as Readonly<Record<string, PackReport>>)
  return report as PackReport
}

function sentenceFor(error: unknown, folder: string): string {
  const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string }
  if (code === 'ENOENT') return 'salt-ts pack needs the program npm, which is not in PATH.'
  return `npm cannot pack ${folder}: ${stderr?.trim() || messageOf(error)}`
}
