import { describe, expect, test } from 'vitest'
import { checkAccess } from '../../../core/auth/check-access.ts'

const nothing = {
  external_auth: {},
  publisher_acl: {},
  publisher_acl_blacklist: {},
  permissive_acl: false,
  nodegroups: {},
  peer: {},
  peer_run: {},
  visible_jobs: 'own' as const,
  conf_file: '/etc/salt/master',
}
const check = (options: object) => checkAccess({ ...nothing, ...options })
const pam = (entries: unknown) => ({ external_auth: { pam: { fred: entries } } })

describe('a rule that cannot be read keeps a master from starting, and its place is named', () => {
  test.each<[object, string]>([
    [pam('test.*'), "external_auth.pam.fred must be a list of what is allowed, but is the text 'test.*'."],
    [pam({ '*': ['.*'] }), 'external_auth.pam.fred must be a list of what is allowed, but is a map.'],
    [pam([5]), 'external_auth.pam.fred[0] must be a function,'],
    [pam(['']), 'external_auth.pam.fred[0] must be a function,'],
    [pam([['test.*']]), 'external_auth.pam.fred[0] must be a function,'],
    [
      pam([{ 'web*': [], 'db*': [] }]),
      "external_auth.pam.fred[0] must be one target with its functions, but has 'web*' and 'db*'.",
    ],
    [pam([{}]), 'external_auth.pam.fred[0] must be one target'],
    [
      pam(['@run ner']),
      "external_auth.pam.fred[0]: the @ must be followed by runner, wheel or the name of a module, not by 'run ner'.",
    ],
    [
      pam([{ '*': ['@runner'] }]),
      "external_auth.pam.fred[0]['*'][0]: '@runner' is not allowed here. Write it as a separate entry",
    ],
    [
      pam([{ '@returners': [{ postgres: [] }] }]),
      'external_auth.pam.fred[0].@returners[0] must be the name of a returner, but is a map.',
    ],
    [pam([{ '@returners': null }]), 'fred[0].@returners must be the name of a returner, but is empty.'],
    [
      pam([{ '*': [{ 'cmd.run': null }] }]),
      "external_auth.pam.fred[0]['*'][0]['cmd.run'] must be a map with 'args' or 'kwargs', but is empty.",
    ],
    [pam([{ '*': [{ 'cmd.run': { arg: ['ls'] } }] }]), "supports only 'args' and 'kwargs', not 'arg'."],
    [pam([{ '*': [{ 'cmd.run': { args: 'ls' } }] }]), "takes a list of regular expressions as 'args'"],
    [pam([{ '*': [{ 'cmd.run': { kwargs: ['ls'] } }] }]), 'but kwargs is a list.'],
    [
      pam([{ '*': [{ 'cmd.run': { args: [['ls']] } }] }]),
      "external_auth.pam.fred[0]['*'][0]['cmd.run'].args[0] must be a regular expression, but is a list.",
    ],
    [
      pam([{ '*': [{ a: {}, b: {} }] }]),
      "must be a function, or one function with 'args' and 'kwargs', but has 2 of them.",
    ],
    [{ external_auth: { pam: ['fred'] } }, 'external_auth.pam must be a map of users and groups'],
    [{ publisher_acl: { fred: 'test.*' } }, 'publisher_acl.fred must be a list'],
    [
      { publisher_acl_blacklist: { user: ['x'] } },
      "publisher_acl_blacklist supports 'users' and 'modules', not 'user'.",
    ],
    [
      { publisher_acl_blacklist: { modules: ['^cmd('] } },
      "publisher_acl_blacklist.modules[0] is not a valid pattern, so it forbids nothing: The regular expression '^cmd(' is not valid",
    ],
    [{ publisher_acl_blacklist: { users: [5] } }, 'publisher_acl_blacklist.users[0] must be text, but is 5.'],
    [{ peer: ['.*'] as never }, 'peer must be a map of expressions for ids, but is a list.'],
    [{ peer: { '.*': 'test.*' } }, "peer['.*'] must be a list"],
    [{ peer_run: { '.*': 'manage.up' } }, "peer_run['.*'] must be a list of runners"],
  ])('%j: %s', (options, sentence) => {
    expect(() => check(options)).toThrow(sentence)
    expect(() => check(options)).toThrow('Correct it in /etc/salt/master')
  })

  test('all such rules are reported at once', () => {
    expect(() => check(pam([5, {}]))).toThrow(/^[^\n]*fred\[0\][^\n]*fred\[1\][^\n]*$/)
  })
})

describe('an expression that cannot be read is logged, and allows nothing', () => {
  test.each<[object, string]>([
    [pam(['te(st']), "external_auth.pam.fred[0] allows nothing. The regular expression 'te(st' is not valid"],
    [
      pam([{ 'web* and': ['test.*'] }]),
      "external_auth.pam.fred[0]['web* and'] allows nothing, because its target is invalid:",
    ],
    [pam([{ 'N@nosuch': ['test.*'] }]), "There is no nodegroup 'nosuch'"],
    [
      pam([{ '*': [{ 'cmd.run': { args: ['(ls'] } }] }]),
      "external_auth.pam.fred[0]['*'][0]['cmd.run'].args[0] allows nothing.",
    ],
    [
      { external_auth: { pam: { '^(fred': ['.*'] } } },
      "external_auth.pam['^(fred'] is invalid and may match no user.",
    ],
    [{ peer: { '(': ['test.*'] } }, "peer['('] allows nothing."],
  ])('%j: %s', (options, sentence) => {
    expect(check(options).join('\n')).toContain(sentence)
  })
})

test('the rules that Salt documents are read without a warning', () => {
  const rules = [
    'test.*',
    '@runner',
    '@wheel',
    '@jobs',
    {
      'web* and G@os:Debian': [
        'pkg.*',
        { 'cmd.run': { args: ['^ls .*', '.*', null], kwargs: { cwd: '/srv.*', shell: null } } },
      ],
    },
    { '@runner': ['manage.*', { 'jobs.lookup_jid': [{ args: ['\\d+'] }, { kwargs: { jid: 20 } }] }] },
    { '@key': 'list_all' },
    { 'db*': null },
  ]
  const users = {
    '^service': 'login',
    fred: rules,
    'ops%': rules,
    '*': ['test.ping'],
    'dev-.*': [],
    nobody: null,
  }
  const options = {
    external_auth: { pam: users, ldap: null, auto: {} },
    publisher_acl: { fred: rules, 'team.*': ['test.*'] },
    publisher_acl_blacklist: { users: ['root', '^(?!sudo_).*$'], modules: ['cmd', 'test.*', '*.ping'] },
    peer: { '.*': ['test.*'], 'foo.example.com': [{ 'db*': ['pkg.*'] }] },
    peer_run: { 'foo.*': ['manage.up', { 'jobs.list_job': { args: ['\\d+'] } }] },
  }
  expect(check(options)).toEqual([])
})
