/** The name of the host in the files of /etc. */
import { join } from 'node:path'
import { rewrite, textOf } from './files.ts'

/** Write the new name of the host into its files, as far as they exist; `hostname` on Debian in any case. */
export async function renameInFiles(
  before: string,
  after: string,
  osFamily: unknown,
  etc = '/etc',
): Promise<void> {
  const hosts = join(etc, 'hosts')
  const known = await textOf(hosts)
  if (known !== undefined) await rewrite(hosts, renamedHosts(known, before, after))
  if (osFamily === 'Debian') await rewrite(join(etc, 'hostname'), `${after}\n`)
  if (osFamily !== 'RedHat') return
  const network = join(etc, 'sysconfig/network')
  const settings = await textOf(network)
  if (settings !== undefined)
    await rewrite(network, settings.replaceAll(/^(HOSTNAME=)(["']?).*?\2$/gm, `$1$2${after}$2`))
}

/** Replace the name in the lines of a hosts file. Everything else stays as it is, and so do comments. */
function renamedHosts(text: string, before: string, after: string): string {
  const renamed = (line: string) => {
    const [names = '', comment] = line.split(/(#.*)/s, 2)
    const words = names.split(/(\s+)/).map((word) => (word === before ? after : word))
    return words.join('') + (comment ?? '')
  }
  return text.split('\n').map(renamed).join('\n')
}
