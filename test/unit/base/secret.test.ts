import { expect, test } from 'vitest'
import { isSecretName } from '../../../core/base/secret.ts'

test('secret options are recognised by their names', () => {
  for (const name of [
    'password',
    'key_pass',
    'apiToken',
    'auth.ldap.bindpw',
    'sharedsecret',
    'mysql_auth.password',
  ])
    expect(isSecretName(name), name).toBe(true)
  for (const name of [
    'auth.ldap.binddn',
    'external_auth',
    'mysql_auth',
    'auth_sql',
    'keep_jobs',
    'data.has_key',
    'auth.mk_token',
  ])
    expect(isSecretName(name), name).toBe(false)
})
