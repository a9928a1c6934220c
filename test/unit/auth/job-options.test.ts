import { describe, expect, test } from 'vitest'
import type { Caller, JobOptions } from '../../../core/auth/contract.ts'
import { fred, open, publish } from './_access.ts'

const asking = (options: Partial<JobOptions>): JobOptions => ({
  returners: [],
  given: [],
  minions: ['web1'],
  ...options,
})

function verdict(rules: unknown, options: Partial<JobOptions>, caller: Caller = fred, fun = 'test.ping') {
  const { access } = open({ external_auth: { pam: { fred: rules } }, peer: { fred: rules } })
  const { minions = ['web1'] } = options
  return access.authorizeJob(caller, [publish(fun, minions)], asking(options))
}

describe('returners of a job', () => {
  test.each<[unknown, readonly string[], boolean]>([
    [['test.*'], [], true],
    [['test.*'], ['rawfile_json'], false],
    [['test.*', '@runner', '@wheel', '@returner'], ['rawfile_json'], false],
    [['test.*', { '@returners': ['postgres'] }], ['postgres'], true],
    [['test.*', { '@returners': 'postgres' }], ['postgres'], true],
    [['test.*', { '@returners': ['postgres'] }], ['postgres', 'http'], false],
    [['test.*', { '@returners': ['postgres'] }], ['postgres_local_cache'], false],
    [['test.*', { '@returners': ['post.*', 'redis'] }], ['postgres', 'redis'], true],
    [['test.*', { '@returners': [] }], ['postgres'], false],
    [['test.*', { '@returners': null }], ['postgres'], false],
    [['test.*', '@returners'], ['http', 'redis'], true],
    [['@returners'], ['http'], false], // gives no function
    [['.*'], ['http'], true],
    [[{ 'web*': ['.*'] }], ['http'], true],
    [['test.*', { 'db*': ['.*'] }], ['http'], false],
    [[{ '*': [{ '.*': { args: ['a'] } }] }, 'test.*'], ['http'], false],
  ])('%j: %j is allowed: %s', (rules, returners, expected) => {
    expect(verdict(rules, { returners }).allowed).toBe(expected)
  })

  test('are allowed to minions by their rules in peer', () => {
    const minion: Caller = { name: 'fred', by: 'minion', groups: [] }
    expect(verdict(['test.*'], { returners: ['http'] }, minion).allowed).toBe(false)
    expect(verdict(['test.*', { '@returners': ['http'] }], { returners: ['http'] }, minion).allowed).toBe(
      true,
    )
  })

  test('need a rule also if the function needs none', () => {
    const find = (rules: unknown, returners: string[]) =>
      verdict(rules, { returners }, fred, 'saltutil.find_job').allowed
    expect([find([], []), find([], ['http']), find(['@returners'], ['http'])]).toEqual([true, false, true])
  })

  test('are named with their rule if they are allowed, and with a rule to write if they are not', () => {
    const rules = ['test.*', { '@returners': ['postgres'] }]
    expect(verdict(rules, { returners: ['postgres'] })).toEqual({
      allowed: true,
      rule: "external_auth.pam.fred[0]: 'test.*', external_auth.pam.fred[1].@returners[0]: 'postgres'",
    })
    expect(verdict(rules, { returners: ['http'] })).toEqual({
      allowed: false,
      reason:
        "fred may not use the returner http: no rule of external_auth.pam grants it ('@returners': [http]).",
    })
  })
})

describe('options that set where returns go or what runs functions', () => {
  test.each([
    [['test.*', '@returners', '@runner', '@wheel'], false],
    [['test.*', { 'db*': ['.*'] }], false],
    [['.*'], true],
    [[{ 'web*': ['.*'] }], true],
  ])('%j allows them: %s', (rules, expected) => {
    for (const option of ['ret_config', 'ret_kwargs', 'module_executors', 'executor_opts'])
      expect([option, verdict(rules, { given: [option] }).allowed]).toEqual([option, expected])
  })

  test('are refused with the users who may use them', () => {
    expect(verdict(['test.*'], { given: ['ret_kwargs'] })).toEqual({
      allowed: false,
      reason:
        "fred may not use ret_kwargs: only the master's user, and users who may run every function ('.*') on all minions of the job may use it.",
    })
  })

  test('apply to no minions but those of the rule that allowed them', () => {
    expect(verdict(['test.*', { 'web*': ['.*'] }], { given: ['ret_kwargs'] })).toMatchObject({
      allowed: true,
      limited: true,
    })
  })

  test("are for the master's user without a rule", () => {
    const root: Caller = { name: 'root', by: 'key', groups: [], unrestricted: true }
    expect(verdict([], { given: ['ret_kwargs'], returners: ['http'] }, root).allowed).toBe(true)
  })
})
