import { fn, p } from 'salt-ts'

const names = p.optional(p.union(p.string(), p.array(p.string())))

/** What every `sync_*` function takes. */
export const syncParams = {
  saltenv: names,
  refresh: p.default(p.boolean(), true),
  extmod_whitelist: p.optional(p.any()),
  extmod_blacklist: p.optional(p.any()),
}

/** The types `sync_all` tells of. */
export const syncTypes = [
  'beacons',
  'clouds',
  'engines',
  'executors',
  'grains',
  'log_handlers',
  'matchers',
  'modules',
  'output',
  'proxymodules',
  'renderers',
  'returners',
  'sdb',
  'serializers',
  'states',
  'thorium',
  'utils',
] as const

/** A `sync_*` function while no master has files to sync: nothing has changed. */
export const nothingToSync = fn(syncParams, (): string[] => [])
