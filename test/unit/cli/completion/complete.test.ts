import { describe, expect, test } from 'vitest'
import { completions } from '../../../../core/cli/completion/complete.ts'
import type { Sources } from '../../../../core/cli/completion/sources.ts'
import { completionTables } from '../../../../core/cli/completion/tables.ts'
import { programs } from '../../../../core/cli/programs.ts'

const keys: Record<string, string[]> = {
  minions: ['web01', 'web02'],
  minions_pre: ['new01'],
  minions_rejected: ['bad01'],
  minions_denied: [],
}
const params: Record<string, string[]> = { 'cmd.run': ['cmd', 'cwd', 'timeout'] }
const sources: Sources = {
  keys: (sections) => sections.flatMap((section) => keys[section] ?? []),
  grainKeys: async () => ['os', 'osrelease', 'roles'],
  grainValues: async (key) => (key === 'os' ? ['Debian', 'Ubuntu'] : []),
  nodegroups: () => ['all-web'],
  functions: async () => ['cmd.run', 'test.arg', 'test.ping'],
  params: async (fun) => params[fun] ?? [],
  localFunctions: () => ['cmd.run', 'local.only'],
  localParams: (fun) => params[fun] ?? [],
  runners: () => ['jobs.active', 'jobs.lookup_jid', 'manage.up'],
  runnerParams: (fun) => (fun === 'manage.up' ? ['tgt', 'timeout'] : []),
  outputters: () => ['json', 'nested', 'yaml'],
  jobs: async () => [['20261122010101000000', 'test.ping on *']],
}
const tables = JSON.parse(JSON.stringify(completionTables(programs)))
const words = async (line: string) => (await completions(line, tables, sources)).map(([word]) => word)

describe('what may come next', () => {
  test.each([
    ['salt ', ['web01', 'web02']],
    ['sudo /usr/bin/salt web02', ['web02']],
    ["salt '", ['web01', 'web02']],
    ['salt -c /etc/other --out json -v web', ['web01', 'web02']],
    ['salt -L web01,', ['web01,web01', 'web01,web02']],
    ['salt -G o', ['os:', 'osrelease:']],
    ["salt -G 'os:D", ['os:Debian']],
    ["salt -C 'web* and G@os:U", ['web* and G@os:Ubuntu']],
    ["salt -C 'N@", ['N@all-web']],
    ['salt -N ', ['all-web']],
    ['salt -E ', []],
    ['salt web01 test.', ['test.arg', 'test.ping']],
    ['salt web01 test.ping,cmd', ['test.ping,cmd.run']],
    ['salt web01 cmd.run cwd=/ ', ['cmd=', 'timeout=']],
    ['salt web01 cmd.run -- t', ['timeout=']],
    ['salt --sum', ['--summary']],
    ['salt --out ', ['json', 'nested', 'yaml']],
    ['salt --out=y', ['--out=yaml']],
    ['salt --log-file-level wa', ['warning']],
    ['salt --config-dir ', []],
    ['salt', []],
    ['salt-call l', ['local.only']],
    ['salt-run jobs.', ['jobs.active', 'jobs.lookup_jid']],
    ['salt-run jobs.lookup_jid ', ['20261122010101000000']],
    ['salt-run manage.up t', ['tgt=', 'timeout=']],
    ['salt-key -a ', ['new01']],
    ['salt-key --include-rejected -a ', ['new01', 'bad01']],
    ['salt-key -d ', ['web01', 'web02', 'new01', 'bad01']],
    ['salt-key -l un', ['unaccepted']],
    ['salt-ts completion ', ['bash', 'fish', 'zsh']],
    ['salt-master --pid', ['--pid-file']],
    ['nothing of ours ', []],
  ])('%s', async (line, expected) => {
    expect(await words(line)).toEqual(expected)
  })

  test('options come with what they mean', async () => {
    expect(await completions('salt --summ', tables, sources)).toEqual([['--summary', 'End with a summary.']])
  })
})
