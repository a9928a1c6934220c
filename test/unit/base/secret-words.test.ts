import { expect, test } from 'vitest'
import { MASK } from '../../../core/base/secret.ts'
import { maskSecretWords } from '../../../core/base/secret-words.ts'
import { SLOW } from '../../harness/slow.ts'

const masked = (value: unknown) => maskSecretWords(value, { mask_secret_words: true })

test.each<[unknown, unknown]>([
  ['password=hunter2', `password=${MASK}`],
  ['db_passwd=hunter2 x=1', `db_passwd=${MASK} x=1`],
  ['API_KEY=hunter2', `API_KEY=${MASK}`],
  ['--token=hunter2 --all', `--token=${MASK} --all`],
  ['mysql --password hunter2 -u root', `mysql --password ${MASK} -u root`],
  ['mysql --db-password "hunter 2" x', `mysql --db-password ${MASK} x`],
  ["curl -d secret='hunter 2'&a=b", `curl -d secret=${MASK}&a=b`],
  ['{"password": "hunter2", "a": 1}', `{"password": ${MASK}, "a": 1}`],
  ['pass=hunter2', `pass=${MASK}`],
  ['db_pass=hunter2 x', `db_pass=${MASK} x`],
  ['curl -H "Authorization: Bearer hunter2" h', `curl -H "Authorization: Bearer ${MASK}" h`],
  ['Authorization: Basic hunter2', `Authorization: Basic ${MASK}`],
  ['Bearer hunter2-0a1b2c3d', `Bearer ${MASK}`],
  ['curl -su bob:hunter2 h', `curl -su bob:${MASK} h`],
  ["curl --user='bob:hunter2' h", `curl --user='bob:${MASK}' h`],
  ['wget x; curl -k --proxy-user bob:hunter2 h', `wget x; curl -k --proxy-user bob:${MASK} h`],
  ['mysql -u root -phunter2 db', `mysql -u root -p${MASK} db`],
  ['/usr/bin/mysqldump -phunter2 db', `/usr/bin/mysqldump -p${MASK} db`],
  ['mysql://u:hunter2@h/db', `mysql://u:${MASK}@h/db`],
  ['redis://:hunter2@h', `redis://:${MASK}@h`],
  [
    { pass: 'hunter2', auth: 'hunter2', bypass: 1 },
    { pass: MASK, auth: MASK, bypass: 1 },
  ],
  [{ Authorization: 'Bearer hunter2' }, { Authorization: MASK }],
  ['Password = hunter2', `Password = ${MASK}`],
  ['a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb', `a\n${MASK}\nb`],
  ['-----BEGIN PRIVATE KEY-----\nMIIE', MASK],
  [
    ['mysql', '--db-password', 'hunter2', '-u', 'root', '--token'],
    ['mysql', '--db-password', MASK, '-u', 'root', '--token'],
  ],
  ['clientSecret: hunter2', `clientSecret: ${MASK}`],
  [
    { password: 'hunter2', user: 'x' },
    { password: MASK, user: 'x' },
  ],
  [
    { __kwarg__: true, api_key: 7 },
    { __kwarg__: true, api_key: MASK },
  ],
  [
    ['a', { deep: [{ accessKey: 'hunter2' }] }],
    ['a', { deep: [{ accessKey: MASK }] }],
  ],
])('%j is shown as %j', (value, shown) => {
  expect(masked(value)).toEqual(shown)
})

test.each([
  [
    'key=os',
    'password',
    'the token is gone',
    'tokens=3',
    '--passwords x',
    'secret://x',
    '',
    'bypass=1',
    'compass: north',
    'http://h:80/a@b',
    'see http://web01/',
    'the bearer of it',
    'Bearer tokens',
    'mkdir -pv a; ssh -p22 h',
    'mysql -u root -p db',
    'curl -o a:b h; chown -R bob:staff x',
    'sudo -u bob:staff id',
    'author: x',
    'password =',
    '-----BEGIN PUBLIC KEY-----',
  ],
  [{ key: 'os', keyword: 1, tokens: [1], session: 2 }, 5, null, new Date(0)],
])('values that only look similar stay unchanged', (...values) => {
  for (const value of values) expect(masked(value)).toBe(value)
})

test('nothing is masked with mask_secret_words: false', () => {
  const value = { password: 'x' }
  expect(maskSecretWords(value, { mask_secret_words: false })).toBe(value)
})

test('long text that almost matches is fast, and endless nesting is not shown', SLOW, () => {
  for (const piece of [
    'x',
    'a://',
    'a:',
    'bearer ',
    'authorization: ',
    'password',
    'password="',
    '--a-',
    "password'   ",
    'curl ',
    'curl -u a',
    'mysql -',
    'Bearer a',
    'password =',
    '-----BEGIN PRIVATE KEY-----',
  ])
    expect(String(masked(piece.repeat(200_000))).length).toBeGreaterThan(0)
  let nested: unknown = 'password=hunter2'
  for (let n = 0; n < 100; n++) nested = [nested]
  expect(JSON.stringify(masked(nested))).toContain(MASK)
  const circle: Record<string, unknown> = { password: 'hunter2' }
  circle.self = circle
  expect(JSON.stringify(masked(circle))).not.toContain('hunter2')
})
