import { chmod, lstat, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chownForDaemonUser } from '../../../../core/cli/daemons/chown-for-daemon-user.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { needs, ROOT } from '../../../harness/needs.ts'

const NOBODY = { uid: 65534, gid: 65534, home: '/nonexistent' }
let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-hand-over-')
})
afterEach(() => removeFolder(folder))

test(
  'files that root used before are handed over to the user, but not the targets of links among them',
  needs(ROOT),
  async () => {
    const [pki_dir, other] = [join(folder, 'pki'), join(folder, 'other')]
    await mkdir(join(pki_dir, 'minions'), { recursive: true })
    await writeFile(join(pki_dir, 'minions', 'web1'), '')
    await mkdir(join(other, 'deep'), { recursive: true })
    await writeFile(join(other, 'deep', 'shadow'), '')
    await symlink(other, join(pki_dir, 'link'))
    await chmod(folder, 0o755)
    const rest = {
      user: 'nobody',
      sock_dir: join(folder, 'run'),
      extension_modules: '',
      pidfile: '',
      log_file: '',
    }
    chownForDaemonUser({ ...rest, pki_dir, cachedir: join(folder, 'cache') }, NOBODY)
    const ownerOf = async (path: string) => (await stat(join(folder, path))).uid
    for (const path of ['pki', 'pki/minions', 'pki/minions/web1', 'run', 'cache'])
      expect([path, await ownerOf(path)]).toEqual([path, NOBODY.uid])
    expect((await lstat(join(pki_dir, 'link'))).uid).toBe(NOBODY.uid)
    for (const path of ['other', 'other/deep', 'other/deep/shadow'])
      expect([path, await ownerOf(path)]).toEqual([path, 0])
  },
)

test('a log file that cannot be read, such as that of another program, is not changed', async () => {
  const endless = join(folder, 'endless')
  await symlink(endless, endless)
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, home: '/' }
  const places = ['pki_dir', 'cachedir', 'sock_dir'].map((name) => [name, join(folder, name)])
  const rest = { user: 'root', extension_modules: '', pidfile: '', log_file: '' }
  const api_logfile = join(endless, 'api')
  chownForDaemonUser({ ...rest, ...Object.fromEntries(places), api_logfile }, account)
  expect((await stat(join(folder, 'pki_dir'))).isDirectory()).toBe(true)
})
