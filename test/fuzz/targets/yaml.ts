/** Configuration in YAML: any text gives options or CONFIG_INVALID with its place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../core/base/errors.ts'
import { loadMasterConfig, loadMinionConfig } from '../../../core/config/index.ts'
import { parseYaml, parseYamlValue } from '../../../core/config/yaml.ts'
import { memoryFolder } from '../memory-folder.ts'
import { must, outcomeOf, type Target } from '../target.ts'

/** A problem has a place, or is about the whole text. */
const SENTENCE = /^line \d+, column \d+: \S|^it (?:has more than|is nested)|^Excessive alias count/

const seeds = [
  'id: web01\nmaster: salt\n',
  'interface: 0.0.0.0\npublish_port: 4505\nworker_threads: 5\n# comment\nauto_accept: True\n',
  'file_roots:\n  base:\n    - /srv/salt\n  dev: [/srv/dev, "/srv/x y"]\n',
  "nodegroups:\n  a: 'L@x,y'\n  b: [N@a, or, c]\npeer: {.*: [test.*]}\n",
  'log_level: debug\nkeep_jobs: 24\ntimeout: 5\nstate_output: |\n  full\n  text\nuser: root\n',
  'external_auth:\n  pam:\n    fred:\n      - test.*\n      - "@runner":\n          - x\n',
  'a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 0x1F\n',
  'publisher_acl:\n  fred: ["web*": [test.ping]]\nnumbers: [1, 0o7, 1.5, .inf, 1:30, 2026-11-20, ~]\n',
  '? complex\n: value\n"quoted": \'single\'\nfolded: >-\n  a\n  b\n',
  'a: &a [b, &c {d: [1]}]\ne: [*a, {<<: *c}]\nschedule: [9, reactor]\n',
  '%YAML 1.1\n---\nmaster: [a, b]\n...\n',
].map((text, index) => Buffer.concat([Buffer.from([index]), Buffer.from(text)]))

const words = [
  '\n',
  ': ',
  '- ',
  '\n  ',
  '\t',
  '# ',
  '&a ',
  '*a',
  '<<: *a',
  '!!str ',
  '!!python/object:os.system ',
  '!x ',
  '|\n',
  '>-\n',
]
const marks = [
  '---\n',
  '...\n',
  '%YAML 1.2\n',
  '? ',
  '[',
  ']',
  '{',
  '}',
  ', ',
  '"',
  "'",
  '\\',
  '\r\n',
  '\ufeff',
  '~',
  'null',
  'yes',
  '1_000',
]
const options = [
  'master',
  'id',
  'file_roots',
  'nodegroups',
  'user',
  'log_level',
  'publish_port',
  'timeout',
  'hash_type',
  'root_dir',
  'api',
]

const folder = mkdtempSync(join(memoryFolder(), 'salt-fuzz-yaml-'))

export default (): Target => ({
  form: 'text',
  choices: [WAYS],
  words: [...words, ...marks, ...options],
  seeds,
  run,
  close: async () => rmSync(folder, { recursive: true, force: true }),
})

/** By the first byte of an input. A whole configuration takes ten times as long as its text. */
const WAYS = 16

function run(input: Buffer): string {
  const way = (input[0] ?? 0) % WAYS
  const text = input.toString('utf8', 1)
  if (way === 1) return `master ${loaded('master', text)}`
  if (way === 2) return `minion ${loaded('minion', text)}`
  return `${parsed(text, parseYaml)} ${parsed(text, parseYamlValue)}`
}

function parsed(text: string, parse: (text: string) => unknown): string {
  try {
    parse(text)
    return 'value'
  } catch (error) {
    must(SENTENCE.test(messageOf(error)), `A problem without a place: ${messageOf(error)}`)
    return 'refused'
  }
}

/** Load a whole configuration. Those that include other files are left out, as these are not the fuzzer's. */
function loaded(role: 'master' | 'minion', text: string): string {
  if (/include|root_dir|conf/.test(text)) return 'left out'
  writeFileSync(join(folder, role), text, { mode: 0o600 })
  const load = role === 'master' ? loadMasterConfig : loadMinionConfig
  return outcomeOf(() => {
    const { config, warnings } = load({ configDir: folder })
    must(Object.isFrozen(config), 'The configuration can be changed')
    return warnings.length > 0 ? 'warnings' : 'fine'
  }, ['CONFIG_INVALID', 'ID_INVALID', 'PERMISSIONS'])
}
