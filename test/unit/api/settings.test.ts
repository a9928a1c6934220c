import { expect, test } from 'vitest'
import { readSettings } from '../../../core/api/settings.ts'
import { loadMasterConfig } from '../../../core/config/index.ts'

const read = (api: Record<string, unknown>) =>
  readSettings(loadMasterConfig({ configDir: '/nowhere', overrides: { root_dir: '/nowhere', api } }).config)

test.each([
  [{ authorized_ips: ['not-an-ip'] }, 'api:authorized_ips', '"not-an-ip"'],
  [{ api_acl: { users: { fred: ['999.1.1.1'] } } }, 'api:api_acl:users:fred', '"999.1.1.1"'],
  [{ api_acl: { users: { '*': '10.0.0.1/8' } } }, 'api:api_acl:users:*', '"10.0.0.1/8"'],
  [{ api_acl: { users: ['fred'] } }, 'api:api_acl:users', '["fred"]'],
  [{ trust_proxy: ['zz'] }, 'api:trust_proxy', '"zz"'],
])('%j is refused with the file and the key', (api, key, found) => {
  expect(() => read(api)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/^The option \S+ in \/nowhere\/master must be .*, but has /),
      data: expect.objectContaining({ key }),
    }),
  )
  expect(() => read(api)).toThrow(found)
})

test('addresses, networks and the words for some of them are accepted', () => {
  const { settings } = read({
    authorized_ips: ['192.0.2.1', '10.0.0.0/8', '2001:db8::/32'],
    api_acl: { users: { fred: ['*'], '*': '127.0.0.1' } },
    trust_proxy: ['loopback', '10.0.0.1'],
  })
  expect(settings.trust_proxy).toEqual(['loopback', '10.0.0.1'])
})

test('login_attempts of the master applies here too, unless this server has its own limit', () => {
  const config = (api: Record<string, unknown>) =>
    loadMasterConfig({ configDir: '/nowhere', overrides: { root_dir: '/nowhere', login_attempts: 5, api } })
      .config
  expect(readSettings(config({})).settings.login_attempts).toBe(5)
  expect(readSettings(config({ login_attempts: 7 })).settings.login_attempts).toBe(7)
})
