import { describe, expect, test } from 'vitest'
import type { Caller, RequestedCall } from '../../../core/auth/contract.ts'
import { Typed } from '../../../core/loader/index.ts'
import { fred, open, publish, run } from './_access.ts'

/** The rule that allows it; false with the reason if none does. */
function verdict(rules: unknown, call: RequestedCall, caller: Caller = fred) {
  const { access } = open({ external_auth: { pam: { fred: rules } } })
  return access.authorize(caller, [call])
}
const allowed = (rules: unknown, call: RequestedCall) => verdict(rules, call).allowed

describe('functions on all minions', () => {
  test.each<[unknown, RequestedCall, boolean]>([
    [['test.*'], publish('test.ping'), true],
    [['test.*'], publish('cmd.run'), false],
    [['test.ping'], publish('test.pingpong'), false],
    [['test.p'], publish('test.ping'), false],
    [['.*'], publish('cmd.run'), true],
    [['.*'], publish('test.ping\ncmd.run'), false],
    [['test.*'], publish('xtest.ping'), false],
    [['test.ping|cmd.run'], publish('cmd.run'), true],
    [['test.ping|cmd.run'], publish('test.ping|cmd.run'), false],
    [['(a+)+\\.x'], publish(`${'a'.repeat(200)}!`), false],
    [['.*'], publish('test.ping cmd.run'), false],
    [['@runner', '@wheel', '@test'], publish('test.ping'), false],
    [[{ '@runner': ['test.*'] }, { '@test': ['ping'] }], publish('test.ping'), false],
    [[], publish('test.ping'), false],
    [null, publish('test.ping'), false],
    [[], publish('saltutil.find_job'), true],
  ])('%j: %j is allowed: %s', (rules, call, expected) => {
    expect(allowed(rules, call)).toBe(expected)
  })
})

describe('functions on some minions', () => {
  test.each<[string, readonly string[], boolean]>([
    ['*', ['web1', 'db1'], true],
    ['web*', ['web1', 'web2'], true],
    ['web*', ['web1', 'db1'], false],
    ['web*', [], false],
    ['*', [], false],
    ['G@os:Debian', ['web1'], true],
    ['G@os:Debian', ['web2'], false],
    ['G@os:Debian', ['db1'], false], // of which nothing is known
    ['not G@os:Debian', ['db1'], false],
    ['web* and not L@web2', ['web1'], true],
    ['N@web', ['web2'], true],
    ['E@web\\d', ['web2'], true],
  ])('%s covers %j: %s', (target, minions, expected) => {
    expect(allowed([{ [target]: ['pkg.*'] }], publish('pkg.install', minions))).toBe(expected)
  })

  test('one rule has to cover all minions of the job, as in Salt', () => {
    const rules = [{ 'web*': ['pkg.*'] }, { 'db*': ['pkg.*'] }]
    expect(allowed(rules, publish('pkg.install', ['web1', 'db1']))).toBe(false)
  })

  test('a verdict is marked as limited if its rule covers those minions only', () => {
    const call = publish('pkg.install')
    expect(verdict([{ 'web*': ['pkg.*'] }], call)).toMatchObject({ limited: true })
    expect(verdict([{ '*': ['pkg.*'] }], call)).not.toHaveProperty('limited')
    expect(verdict(['pkg.*'], call)).not.toHaveProperty('limited')
    const { access } = open({ external_auth: { pam: { fred: ['test.*', { 'web*': ['pkg.*'] }] } } })
    expect(access.authorize(fred, [call, publish('test.ping')])).toMatchObject({ limited: true })
  })

  test('a single function need not be in a list', () => {
    expect(allowed([{ 'web*': 'pkg.*' }], publish('pkg.install'))).toBe(true)
  })
})

describe('arguments', () => {
  const rules = (condition: unknown) => [{ '*': [{ 'cmd.run': condition }] }]
  test.each<[unknown, readonly unknown[], Record<string, unknown>, boolean]>([
    [{ args: ['ls .*'] }, ['ls /tmp'], {}, true],
    [{ args: ['ls'] }, ['ls; rm -rf /'], {}, false],
    [{ args: ['^ls .*$'] }, ['xls /tmp'], {}, false],
    [{ args: ['ls'] }, [], { cmd: 'ls' }, false],
    [{ args: ['ls'] }, ['ls', 'more'], { cwd: '/' }, true],
    [{ args: [null, 'b'] }, ['anything', 'b'], {}, true],
    [{ args: [null, 'b'] }, ['b'], {}, false],
    [{ args: [null] }, [], {}, false],
    [{ kwargs: { cwd: '/srv.*' } }, ['ls'], { cwd: '/srv/www' }, true],
    [{ kwargs: { cwd: '/srv.*' } }, ['ls'], { cwd: '/etc' }, false],
    [{ kwargs: { cwd: '/srv.*' } }, ['ls'], {}, false],
    [{ kwargs: { cwd: null } }, ['ls'], {}, false],
    [{ kwargs: { constructor: null } }, ['ls'], {}, false],
    [[{ args: ['ls'] }, { args: ['df'] }], ['df'], {}, true],
    [[{ args: ['ls'] }, { args: ['df'] }], ['id'], {}, false],
    [{ args: ['True', 5, true] }, [true, 5, 'True'], {}, true],
    [{ args: ["\\['a', 1\\]"] }, [['a', 1]], {}, true],
    [{ args: ['None'] }, [null], {}, true],
    [{}, ['anything'], {}, true],
    [{ args: ['('] }, ['ls'], {}, false],
    [{ args: [['ls']] }, ['ls'], {}, false],
    [{ kwargs: { cwd: '(' } }, ['ls'], { cwd: '/' }, false],
  ])('%j allows %j %j: %s', (condition, args, kwargs, expected) => {
    expect(allowed(rules(condition), publish('cmd.run', ['web1'], args, kwargs))).toBe(expected)
  })

  test('a value with the word it was typed as has to match in both forms', () => {
    const call = (text: string) => publish('cmd.run', ['web1'], [new Typed(true, text)])
    expect(allowed(rules({ args: ['True|yes'] }), call('yes'))).toBe(true)
    expect(allowed(rules({ args: ['True'] }), call('yes'))).toBe(false)
    expect(allowed(rules({ args: ['yes'] }), call('yes'))).toBe(false)
  })
})

describe("functions of the master's host", () => {
  test.each<[unknown, RequestedCall, boolean]>([
    [['@runner'], run('runner', 'jobs.list_jobs'), true],
    [['@runners'], run('runner', 'jobs.list_jobs'), true],
    [['@runner'], run('wheel', 'key.accept'), false],
    [['@wheel'], run('wheel', 'key.accept'), true],
    [['@jobs'], run('runner', 'jobs.list_jobs'), true],
    [['@jobs'], run('runner', 'manage.up'), false],
    [['@key'], run('wheel', 'key.accept'), true],
    [['.*', '*', { '*': ['.*'] }], run('runner', 'manage.up'), false],
    [[{ '@runner': ['manage.*'] }], run('runner', 'manage.up'), true],
    [[{ '@runner': ['manage.*'] }], run('runner', 'jobs.list_jobs'), false],
    [[{ '@runner': ['manage.*'] }], run('wheel', 'manage.up'), false],
    [[{ '@jobs': ['list_.*'] }], run('runner', 'jobs.list_jobs'), true],
    [[{ '@jobs': ['list_.*'] }], run('runner', 'jobs.export'), false],
    [[{ '@jobs': ['jobs.list_.*'] }], run('runner', 'jobs.list_jobs'), false],
    [
      [{ '@key': [{ accept: { kwargs: { match: 'web.*' } } }] }],
      run('wheel', 'key.accept', [], { match: 'web1' }),
      true,
    ],
    [
      [{ '@key': [{ accept: { kwargs: { match: 'web.*' } } }] }],
      run('wheel', 'key.accept', [], { match: '*' }),
      false,
    ],
    [['@job'], run('runner', 'jobs.list_jobs'), false],
    [[{ '@runner': [] }], run('runner', 'jobs.list_jobs'), false],
    [[{ '@runner': null }], run('runner', 'jobs.list_jobs'), false],
    [[], run('runner', 'saltutil.find_job'), false],
    [['@runner'], run('runner', '.list_jobs'), false],
    [['@runner'], run('runner', 'jobs'), false],
    [['@runner'], run('runner', 'a.b.c'), false],
    [['@wheel'], run('wheel', '__proto__.x'), true],
  ])('%j: %j is allowed: %s', (rules, call, expected) => {
    expect(allowed(rules, call)).toBe(expected)
  })
})

describe('users of an entry', () => {
  const who = (map: Record<string, unknown>, caller: Partial<Caller>, permissive_acl = false) => {
    const { access } = open({ external_auth: { pam: map }, permissive_acl })
    return access.rightsOf({ ...fred, ...caller }).entries
  }
  test.each<[Record<string, unknown>, Partial<Caller>, unknown[]]>([
    [{ fred: ['a'], bob: ['b'] }, {}, ['a']],
    [{ 'f*': ['a'], 'fr?d': ['b'] }, {}, ['a', 'b']],
    [{ '^fre(d|da)$': ['a'] }, {}, ['a']],
    [{ 'fred.smith': ['a'] }, { name: 'fredxsmith' }, []],
    [{ fred: ['a'] }, { name: 'frederic' }, []],
    [{ fred: ['a'] }, { name: '*' }, []],
    [{ fred: ['a'] }, { name: 'f.*' }, []],
    [{ 'ops%': ['a'], 'dev%': ['b'] }, { groups: ['ops'] }, ['a']],
    [{ 'o*%': ['a'] }, { groups: ['ops'] }, []],
    [{ 'op%': ['a'] }, { groups: ['ops'] }, []],
    [{ fred: ['a'], '*': ['b'] }, {}, ['a']],
    [{ 'ops%': ['a'], '*': ['b'] }, { groups: ['ops'] }, ['a', 'b']],
    [{ bob: ['a'], '*': ['b'] }, {}, ['b']],
    [{ '^service': 'x', '*': ['b'] }, { name: '^service' }, ['b']],
    [{ fred: ['a'] }, { name: '__proto__' }, []],
    [{ fred: ['a'] }, { eauth: '__proto__' }, []],
    [{ fred: ['a'] }, { eauth: 'ldap' }, []],
    [{ fred: ['a'] }, { permissions: ['own'] }, ['own']],
    [{ fred: ['a'] }, { permissions: [] }, []],
  ])('%j for %j: %j', (map, caller, expected) => {
    expect(who(map, caller)).toEqual(expected)
  })

  test('with permissive_acl, entries for * are added', () => {
    expect(who({ fred: ['a'], '*': ['b'] }, {}, true)).toEqual(['a', 'b'])
  })

  test('in publisher_acl entries for * are always added, and a user of sudo has the entries of their own name', () => {
    const { access } = open({ publisher_acl: { fred: ['a'], '*': ['b'] } })
    const entries = (name: string) => access.rightsOf({ name, by: 'key', groups: [] }).entries
    expect([entries('fred'), entries('sudo_fred'), entries('bob')]).toEqual([['a', 'b'], ['a', 'b'], ['b']])
  })
})

describe('a job of several functions', () => {
  const rules = { fred: ['test.*', { 'web*': [{ 'cmd.run': { args: ['ls'] } }] }] }
  const { access } = open({ external_auth: { pam: rules } })
  test.each<[RequestedCall[], boolean]>([
    [[publish('test.ping'), publish('test.echo')], true],
    [[publish('test.ping'), publish('cmd.run', ['web1'], ['ls'])], true],
    [[publish('test.ping'), publish('cmd.run', ['web1'], ['id'])], false],
    [[publish('cmd.run', ['web1'], ['ls']), publish('cmd.run', ['web1'], ['id'])], false],
    [[publish('saltutil.find_job'), publish('pkg.remove')], false],
    [[publish('test.ping'), publish('test.ping,cmd.run')], false],
    [[], false],
  ])('CVE-2013-4435: each is authorized with its own arguments: %j: %s', (calls, expected) => {
    expect(access.authorize(fred, calls).allowed).toBe(expected)
  })
})

describe('publisher_acl_blacklist', () => {
  const root: Caller = { name: 'root', by: 'key', groups: [], unrestricted: true }
  test.each<[Record<string, unknown>, Caller, RequestedCall, boolean]>([
    [{ modules: ['cmd'] }, root, publish('cmd.run'), false],
    [{ modules: ['cmd.*'] }, root, publish('cmd.run'), false],
    [{ modules: ['cmd\\.run'] }, fred, publish('cmd.run'), false],
    [{ modules: 'cmd' }, fred, publish('cmd.run'), false],
    [{ modules: ['cmd'] }, root, publish('cmdmod.run'), true],
    [{ modules: ['.*'] }, root, publish('saltutil.find_job'), true],
    [{ modules: ['key.*'] }, root, run('wheel', 'key.accept'), true],
    [{ users: ['root', '^(?!sudo_).*$'] }, root, publish('test.ping'), false],
    [{ users: ['root', '^(?!sudo_).*$'] }, { ...root, name: 'sudo_fred' }, publish('test.ping'), true],
    [{ users: ['fred'] }, { ...root, name: 'sudo_fred' }, publish('test.ping'), false],
    [{ users: ['fr*'] }, fred, publish('saltutil.find_job'), false],
    [{ users: ['(a+)+$'] }, { ...fred, name: `${'a'.repeat(200)}!` }, publish('test.ping'), false],
    [{}, root, publish('cmd.run'), true],
  ])('%j for %j and %j: allowed %s', (blacklist, caller, call, expected) => {
    const { access } = open({ publisher_acl_blacklist: blacklist, external_auth: { pam: { '*': ['.*'] } } })
    expect(access.authorize(caller, [call]).allowed).toBe(expected)
  })

  test('names the entry that forbids it', () => {
    const { access } = open({ publisher_acl_blacklist: { modules: ['pkg', 'cmd'] } })
    expect(access.authorize(root, [publish('cmd.run')])).toEqual({
      allowed: false,
      rule: "publisher_acl_blacklist.modules[1]: 'cmd'",
      reason: "root may not run cmd.run: publisher_acl_blacklist.modules[1]: 'cmd' forbids it.",
    })
  })
})

describe('minions', () => {
  const minion = (name: string): Caller => ({ name, by: 'minion', groups: [] })
  const { access } = open({
    peer: { 'web\\d': ['test.*', { 'db*': [{ 'pkg.version': { args: ['nginx'] } }] }], db: ['.*'] },
    peer_run: { 'web.*': ['manage.*', { 'jobs.lookup_jid': { args: ['\\d{20}'] } }] },
  })
  test.each<[string, RequestedCall, boolean]>([
    ['web1', publish('test.ping', ['db1']), true],
    ['web1', publish('pkg.version', ['db1'], ['nginx']), true],
    ['web1', publish('pkg.version', ['db1'], ['bash']), false],
    ['web1', publish('pkg.version', ['web2'], ['nginx']), false],
    ['web1', publish('saltutil.find_job', ['db1']), false],
    ['web10', publish('test.ping', ['db1']), false], // ids match whole
    ['db1', publish('test.ping', ['web1']), false],
    ['web1', run('runner', 'manage.up'), true],
    ['web1', run('runner', 'jobs.lookup_jid', ['20261122112233445566']), true],
    ['web1', run('runner', 'jobs.lookup_jid', ['x']), false],
    ['web1', run('runner', 'test.arg'), false],
    ['web1', run('wheel', 'manage.up'), false],
  ])('%s runs %j: %s', (id, call, expected) => {
    expect(access.authorize(minion(id), [call]).allowed).toBe(expected)
  })

  test('are also refused what publisher_acl_blacklist forbids', () => {
    const { access } = open({ peer: { '.*': ['.*'] }, publisher_acl_blacklist: { modules: ['cmd'] } })
    expect(access.authorize(minion('web1'), [publish('test.ping')]).allowed).toBe(true)
    expect(access.authorize(minion('web1'), [publish('cmd.run')]).allowed).toBe(false)
  })
})

describe('a verdict names', () => {
  const rules = ['test.*', { 'web*': ['pkg.*', { 'cmd.run': { args: ['ls'] } }] }, { '@jobs': ['list_.*'] }]
  test.each<[RequestedCall, string]>([
    [publish('test.ping'), "external_auth.pam.fred[0]: 'test.*'"],
    [publish('pkg.list'), "external_auth.pam.fred[1]['web*'][0]: 'pkg.*'"],
    [publish('cmd.run', ['web1'], ['ls']), "external_auth.pam.fred[1]['web*'][1]: 'cmd.run'"],
    [run('runner', 'jobs.list_jobs'), "external_auth.pam.fred[2].@jobs[0]: 'list_.*'"],
  ])('the rule that allows the call: %j', (call, rule) => {
    expect(verdict(rules, call)).toMatchObject({ allowed: true, rule })
  })

  test.each<[RequestedCall, string]>([
    [publish('grains.items'), 'fred may not run grains.items: no rule of external_auth.pam allows it.'],
    [
      publish('pkg.list', ['web1', 'db1']),
      "fred may not run pkg.list: external_auth.pam.fred[1]['web*'][0]: 'pkg.*' is not for all of web1, db1.",
    ],
    [
      publish('pkg.list', []),
      "fred may not run pkg.list: external_auth.pam.fred[1]['web*'][0]: 'pkg.*' is for certain minions, and the target selects no known minion.",
    ],
    [
      publish('cmd.run', ['web1'], ['id']),
      "fred may not run cmd.run: external_auth.pam.fred[1]['web*'][1]: 'cmd.run' allows it with other arguments only.",
    ],
    [
      run('wheel', 'key.accept'),
      'fred may not run the wheel function key.accept: no rule of external_auth.pam allows it.',
    ],
    [run('runner', 'jobs'), "'jobs' is not the name of a function. Its form is module.function."],
  ])('the reason for a refusal: %j', (call, reason) => {
    expect(verdict(rules, call)).toMatchObject({ allowed: false, reason })
  })

  test('the backend if no rule applies to the user', () => {
    expect(verdict([], publish('test.ping'))).toMatchObject({
      reason: 'fred may not run test.ping: no rule of external_auth.pam applies to fred.',
    })
  })
})

test('invalid permissions of a backend are logged and allow nothing', () => {
  const { access, lines } = open({})
  const caller = { ...fred, permissions: ['test.*', { a: [], b: [] }, 5] }
  expect(access.authorize(caller, [publish('test.ping')]).allowed).toBe(true)
  expect(access.authorize(caller, [publish('cmd.run')]).allowed).toBe(false)
  expect(lines.map(({ message }) => message).join()).toContain(
    'the rights of fred (pam)[1] must be one target',
  )
})

describe('jobs of other users are found by', () => {
  const everything = ['.*', '@runner', '@wheel']
  test.each<[string, unknown[], boolean]>([
    ['a user who may do everything', everything, true],
    ['no user who may use @jobs only', ['@jobs'], false],
    ['no user who may do everything on minions only', ['.*', '@runner', '@jobs'], false],
    ['no user who may do everything on some minions', [{ 'web*': ['.*'] }, '@runner', '@wheel'], false],
    ['no user whose arguments are limited', [{ '.*': { args: ['x'] } }, '@runner', '@wheel'], false],
    ['no user who may use some runners', ['.*', { '@runner': ['jobs.*'] }, '@wheel'], false],
    [
      'a user who may do everything, by several rules',
      ['.*', { '@runner': ['.*'] }, { '@wheel': ['.*'] }],
      true,
    ],
  ])('%s', (_, rules, expected) => {
    expect(open({ external_auth: { pam: { fred: rules } } }).access.seesAllJobs(fred)).toBe(expected)
  })

  test('the user of the master, and with visible_jobs: all by all users', () => {
    expect(open({}).access.seesAllJobs({ ...fred, by: 'key', unrestricted: true })).toBe(true)
    expect(open({ visible_jobs: 'all' }).access.seesAllJobs(fred)).toBe(true)
  })
})
