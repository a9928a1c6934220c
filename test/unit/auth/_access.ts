/** Access over options of a test and three minions: web1, web2, db1. */
import { Access } from '../../../core/auth/access.ts'
import type { AccessConfig } from '../../../core/auth/access-rules.ts'
import type { Caller, RequestedCall } from '../../../core/auth/contract.ts'
import { createMatcher } from '../../../core/targets/index.ts'
import { fakeLog } from '../../../core/testing/recording-log.ts'
import { allMatchers } from '../../harness/matchers.ts'

const GRAINS: Readonly<Record<string, Record<string, unknown>>> = {
  web1: { os: 'Debian' },
  web2: { os: 'Fedora' },
}

const nothing: AccessConfig = {
  external_auth: {},
  publisher_acl: {},
  publisher_acl_blacklist: {},
  permissive_acl: false,
  nodegroups: { web: 'web*' },
  peer: {},
  peer_run: {},
  visible_jobs: 'own',
}

const matchers = await allMatchers()

export function open(options: Partial<AccessConfig>) {
  const config = { ...nothing, ...options }
  const { log, lines } = fakeLog()
  const matcher = createMatcher({ matchers: (type) => matchers.get(type), nodegroups: config.nodegroups })
  const subjects = (ids: readonly string[]) =>
    ids.map((id) => ({ id, ...(GRAINS[id] && { grains: GRAINS[id] }) }))
  return { access: new Access(config, { matcher, subjects, log }), lines }
}

export const fred: Caller = { name: 'fred', by: 'eauth', eauth: 'pam', groups: [] }

export const publish = (
  fun: string,
  minions: readonly string[] = ['web1'],
  args: readonly unknown[] = [],
  kwargs = {},
): RequestedCall => ({
  kind: 'publish',
  fun,
  minions,
  args,
  kwargs,
})

export const run = (
  kind: 'runner' | 'wheel',
  fun: string,
  args: readonly unknown[] = [],
  kwargs = {},
): RequestedCall => ({
  kind,
  fun,
  args,
  kwargs,
})
