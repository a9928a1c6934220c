import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Context } from '../../../../core/author/index.ts'
import { MinionData } from '../../../../core/cache/minion-data.ts'
import { createAccessAdmin } from '../../../../core/client/services/master-access.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { test as aclTest } from '../../../../runners/acl.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
let minions: MinionData
beforeEach(async () => {
  folder = await temporaryFolder('salt-access-')
  minions = MinionData.open(folder)
  await minions.save('web1', { grains: { os: 'Debian' } })
})
afterEach(async () => {
  await minions.close()
  await removeFolder(folder)
})

const options = {
  user: 'salt',
  external_auth: { pam: { fred: ['test.*'], 'ops%': [{ 'G@os:Debian': ['pkg.*'] }, '@jobs'] } },
  publisher_acl: {
    ann: [{ 'web*': [{ 'cmd.run': { args: ['ls'], kwargs: { cwd: '/srv' } } }] }],
    'root%': ['disk.*'],
  },
  publisher_acl_blacklist: { modules: ['file'] },
  sudo_acl: true,
}

/** As `salt-run acl.test` is given it: positional and named arguments. */
async function ask(args: unknown[], kwargs: Record<string, unknown> = {}) {
  const { config } = loadMasterConfig({ configDir: folder, overrides: options })
  const access = createAccessAdmin(config, fakeLog().log, {
    acceptedIds: async () => ['web1', 'db1'],
    minions: async () => minions,
  })
  const [user, target, fun, ...rest] = args
  const { eauth, groups, kind = 'publish', tgt_type = 'glob', ...own } = kwargs
  const given = { user, target, fun, args: rest, eauth, groups, kind, tgt_type, kwargs: own }
  return aclTest.run(given as never, { master: { access } } as unknown as Context)
}

test.each<[unknown[], Record<string, unknown>, object]>([
  [
    ['fred', '*', 'test.ping'],
    { eauth: 'pam' },
    { allowed: true, rule: "external_auth.pam.fred[0]: 'test.*'", minions: ['web1', 'db1'] },
  ],
  [
    ['fred', 'web1', 'pkg.list'],
    { eauth: 'pam' },
    { allowed: false, reason: 'fred may not run pkg.list: no rule of external_auth.pam allows it.' },
  ],
  [
    ['fred', 'web1', 'pkg.list'],
    { eauth: 'pam', groups: ['ops'] },
    { allowed: true, rule: "external_auth.pam.ops%[0]['G@os:Debian'][0]: 'pkg.*'" },
  ],
  [
    ['fred', '*', 'pkg.list'],
    { eauth: 'pam', groups: ['ops'] },
    { allowed: false, rule: "external_auth.pam.ops%[0]['G@os:Debian'][0]: 'pkg.*'" },
  ],
  [
    ['fred', '', 'jobs.list_jobs'],
    { eauth: 'pam', groups: ['ops'], kind: 'runner' },
    { allowed: true, rule: "external_auth.pam.ops%[1]: '@jobs'" },
  ],
  [['ann', 'web1', 'cmd.run', 'ls'], { cwd: '/srv' }, { allowed: true }],
  [
    ['ann', 'web1', 'cmd.run', 'ls'],
    { cwd: '/' },
    { allowed: false, reason: expect.stringContaining('allows it with other arguments only') },
  ],
  [['sudo_ann', 'web1', 'test.ping'], {}, { allowed: false }],
  [['sudo_root', 'web1', 'disk.usage'], {}, { allowed: true, rule: "publisher_acl.root%[0]: 'disk.*'" }],
  [['root', '*', 'cmd.run'], {}, { allowed: true, rule: "the key of the master's user" }],
  [['root', '*', 'file.remove'], {}, { allowed: false, rule: "publisher_acl_blacklist.modules[0]: 'file'" }],
])('acl.test %j %j', async (args, kwargs, expected) => {
  expect(await ask(args, kwargs)).toMatchObject(expected)
})

test('acl.test uses the backends', async () => {
  await expect(ask(['fred', '*', 'test.ping'], { eauth: 'ldap' })).rejects.toThrow(
    "external_auth does not name the backend 'ldap': it names pam.",
  )
})
