import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../../harness/folder.ts'
import { program, ROOT } from '../../../harness/needs.ts'

const FILES = {
  passwd: [
    'root:x:0:0:root:/root:/bin/bash',
    'daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin',
    'fred:x:1001:1001:Fred Flintstone,12,555-1,555-2,a, b:/home/fred:/bin/sh',
  ],
  group: ['root:x:0:', 'daemon:x:1:', 'wheel:x:10:fred', 'audio:x:29:', 'fred:x:1001:'],
  shadow: [
    'root:*:19000:0:99999:7:::',
    'daemon:*:19000:0:99999:7:::',
    'fred:$6$salt$hash:19000:0:99999:7:::',
  ],
  gshadow: ['root:*::', 'daemon:*::', 'wheel:*::fred', 'audio:*::', 'fred:!::'],
} as const

/** What is needed to run shadow's programs in a root folder. */
export const shadowPrograms = [ROOT, ...['useradd', 'chage', 'gpasswd', 'passwd'].map(program)]

/** Make a root folder with the account files of a small system, for the parameter `root`. */
export async function scratchRoot(): Promise<string> {
  const root = await temporaryFolder('salt-ts-accounts-')
  await mkdir(join(root, 'etc'))
  await mkdir(join(root, 'home'))
  for (const [name, lines] of Object.entries(FILES)) {
    await writeFile(join(root, 'etc', name), `${lines.join('\n')}\n`, {
      mode: name.endsWith('w') ? 0o600 : 0o644,
    })
  }
  await writeFile(
    join(root, 'etc/login.defs'),
    'UID_MIN 1000\nUID_MAX 60000\nGID_MIN 1000\nGID_MAX 60000\nSYS_GID_MIN 100\nSYS_GID_MAX 999\nUSERGROUPS_ENAB yes\n',
  )
  return root
}
