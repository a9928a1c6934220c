import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { optionTables } from '../../../../core/cli/completion/built-in-tables.ts'
import { writeTables } from '../../../../core/cli/completion/rows.ts'
import { programs } from '../../../../core/cli/programs.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const engine = fileURLToPath(new URL('../../../../bin/complete.awk', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-completion-')
  writeTables(join(folder, 'own'), {
    ...optionTables(programs),
    functions: [
      ['cmd.run', 'cmd cwd timeout'],
      ['local.only', ''],
    ],
    runners: [
      ['jobs.active', ''],
      ['jobs.lookup_jid', 'jid'],
      ['manage.up', 'tgt timeout'],
    ],
    outputters: [['json'], ['nested'], ['yaml']],
    returners: [['postgres'], ['redis']],
    executors: [['splay'], ['sudo']],
    kinds: [['engine'], ['module']],
  })
  writeTables(join(folder, 'known'), {
    keys: [
      ['minions', 'web01'],
      ['minions', 'web02'],
      ['minions_pre', 'new01'],
      ['minions_rejected', 'bad01'],
      ['minions_denied', 'web01'],
    ],
    grains: [
      ['os', 'Debian'],
      ['os', 'Ubuntu'],
      ['osrelease', '13'],
      ['roles', 'all: of them'],
    ],
    nodegroups: [['all-web']],
    functions: [
      ['cmd.run', 'cmd cwd timeout'],
      ['test.arg', ''],
      ['test.ping', ''],
    ],
    jobs: [['20261122010101000000', 'test.ping on *']],
  })
})
afterAll(() => removeFolder(folder))

/** Rows: word, description. */
function offered(line: string, known = join(folder, 'known')): string[][] {
  const env = { ...process.env, LINE: line, OWN: join(folder, 'own'), KNOWN: known }
  const text = execFileSync('awk', ['-f', engine], { env, encoding: 'utf8' })
  return text
    .split('\n')
    .slice(0, -1)
    .map((row) => row.split('\t'))
}
const words = (line: string, known?: string) => offered(line, known).map(([word]) => word)

describe('the completion of words', () => {
  test.each([
    ['salt ', ['web01', 'web02']],
    ['sudo /usr/bin/salt web02', ['web02']],
    ["salt '", ['web01', 'web02']],
    ['salt web\\0', ['web01', 'web02']],
    ['salt -c /etc/other --out json -v web', ['web01', 'web02']],
    ['salt -L web01,', ['web01,web02']],
    ['salt -G o', ['os:', 'osrelease:']],
    ["salt -G 'os:D", ['os:Debian']],
    ["salt -G 'roles:all:", ['roles:all: of them']],
    ["salt -C 'web* and G@os:U", ['web* and G@os:Ubuntu']],
    ["salt -C '(G@o", ['(G@os:', '(G@osrelease:']],
    ["salt -C 'N@", ['N@all-web']],
    ['salt -N ', ['all-web']],
    ['salt -E ', []],
    ['salt web01 test.', ['test.arg', 'test.ping']],
    ['salt web01 test.ping,cmd', ['test.ping,cmd.run']],
    ['salt web01 cmd.run cwd=/ ', ['cmd=', 'timeout=']],
    ['salt web01 cmd.run -- t', ['timeout=']],
    ['salt --sum', ['--summary']],
    ['salt --out ', ['json', 'nested', 'yaml']],
    ['salt --output=y', ['--output=yaml']],
    ['salt --out=y', ['--out=yaml']],
    ['salt --log-file-level wa', ['warning']],
    ['salt -lwarning web02', ['web02']],
    ['salt --config-dir ', []],
    ['salt', []],
    ['', []],
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
  ])('%s', (line, expected) => {
    expect(words(line)).toEqual(expected)
  })

  test('offers options and jobs with descriptions', () => {
    expect(offered('salt --summ')).toEqual([['--summary', 'Print a summary at the end.']])
    expect(offered('salt-run jobs.list_job ')).toEqual([['20261122010101000000', 'test.ping on *']])
  })

  test('offers built-in functions if no configuration was read', () => {
    expect(words('salt ', '')).toEqual([])
    expect(words('salt -G o', '')).toEqual([])
    expect(words('salt web01 l', '')).toEqual(['local.only'])
    expect(words('salt --out j', '')).toEqual(['json'])
  })
})

test('offered words contain no control characters or line breaks', () => {
  writeTables(join(folder, 'odd'), { jobs: [['evil\u001b[2J', 'a\tb\nc']], nodegroups: [['all\u001b']] })
  expect(offered('salt-run jobs.list_job ', join(folder, 'odd'))).toEqual([])
  writeTables(join(folder, 'odd'), { jobs: [['1', 'a\tb\u001b[2J\nc']] })
  expect(offered('salt-run jobs.list_job ', join(folder, 'odd'))).toEqual([['1', 'a b [2J c']])
})

const EVIL = [
  '$(id)',
  '`id`',
  'a;id',
  'a|id',
  'a&id',
  'a>b',
  "a'b",
  'a"b',
  'a\\b',
  '!id',
  '{a,b}',
  '~',
  '#',
  '*',
  '[a]',
]

test.each(EVIL)(
  '%s, which is special in a shell, is not offered, wherever a host or a key has it as a name',
  (name) => {
    writeTables(join(folder, 'evil'), {
      keys: [
        ['minions', name],
        ['minions_pre', name],
      ],
      grains: [
        ['os', name],
        [name, 'x'],
      ],
      nodegroups: [[name]],
      functions: [
        [`zz.${name}`, ''],
        ['cmd.run', name],
      ],
    })
    const lines = [
      'salt ',
      'salt-key -a ',
      'salt -G os:',
      'salt -G ',
      'salt -N ',
      'salt web1 zz.',
      'salt web1 cmd.run ',
    ]
    const found = lines.flatMap((line) => words(line, join(folder, 'evil')))
    expect(found.filter((word) => word !== 'os:' && /[^\w.:=-]/.test(word ?? ''))).toEqual([])
  },
)

test.each([
  ['salt web01 test.ping --return ', ['postgres', 'redis']],
  ['salt web01 test.ping --return=redis,p', ['--return=redis,postgres']],
  ['salt-call --return redis,p', ['redis,postgres']],
  ['salt-call --module-executors s', ['splay', 'sudo']],
  ['salt-ts create ', ['engine', 'module']],
  ['salt-ts create module ', []],
])('%s is completed to %j', (line, words) => {
  expect(offered(line).map(([word]) => word)).toEqual(words)
})
