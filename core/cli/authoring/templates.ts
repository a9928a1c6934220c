/** Templates of `salt-ts create`, by kind. The files type-check, and their tests pass. */
import type { KindName } from '../../loader/kinds.ts'

export interface Template {
  readonly kind: KindName
  /** Text of the extension with this name. */
  source(name: string): string
  test(name: string): string
  /** A command that tries it out, if there is one. */
  tryOut?(name: string): string
}

const TEST_HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const RUN_HEAD = `${TEST_HEAD}import { run } from 'salt-ts/testing'\n`

const module: Template = {
  kind: 'modules',
  source: (name) => `/** What ${name} is for, in a sentence. */
import { fn, p } from 'salt-ts'

/**
 * Say hello.
 *
 * @example salt '*' ${name}.greet Ada times=2
 */
export const greet = fn(
  { name: p.string(), times: p.default(p.integer({ minimum: 1 }), 1) },
  ({ name, times }, { id }) => Array.from({ length: times }, () => \`Hello, \${name}, from \${id}!\`),
)

/**
 * Return the user that the minion runs as.
 *
 * @example salt '*' ${name}.whoami
 */
export const whoami = fn(async (_, { call }) => {
  const answer = await call('cmd.run', { cmd: 'id -un' })
  return answer.trim()
})
`,
  test: (name) => `${RUN_HEAD}import { greet, whoami } from './${name}.ts'

test('greets as often as requested', async () => {
  const { result } = await run(greet, { name: 'Ada', times: 2 }, { id: 'web1' })
  assert.deepEqual(result, ['Hello, Ada, from web1!', 'Hello, Ada, from web1!'])
})

test('refuses to greet zero times', async () => {
  await assert.rejects(run(greet, { name: 'Ada', times: 0 }), /'times' must be at least 1/)
})

test('asks the system for its user', async () => {
  const { result } = await run(whoami, [], { calls: { 'cmd.run': 'ada\\n' } })
  assert.equal(result, 'ada')
})
`,
  tryOut: (name) => `npx salt-call --local -m . ${name}.greet Ada`,
}

const runner: Template = {
  kind: 'runners',
  source: (name) => `/** What ${name} is for, in a sentence. */
import { fn, p } from 'salt-ts'

/**
 * List the minions that answer, and those that do not.
 *
 * @example salt-run ${name}.answering 'web*'
 */
export const answering = fn({ tgt: p.default(p.string(), '*') }, async ({ tgt }, { master }) => {
  const yes: string[] = []
  const no: string[] = []
  for await (const { id, missing } of master.run({ tgt, fun: 'test.ping' })) (missing ? no : yes).push(id)
  return { yes: yes.sort(), no: no.sort() }
})
`,
  test: (name) => `${RUN_HEAD}import { answering } from './${name}.ts'

test('separates minions that answer from those that do not', async () => {
  const { result } = await run(answering, { tgt: 'web*' }, {
    master: {
      async *run({ tgt }) {
        assert.equal(tgt, 'web*')
        yield { id: 'web2', return: undefined, missing: 'it is not connected' }
        yield { id: 'web1', return: true }
      },
    },
  })
  assert.deepEqual(result, { yes: ['web1'], no: ['web2'] })
})
`,
  tryOut: (name) =>
    `npx salt-run ${name}.answering  # on the master's host, where module_dirs names this folder`,
}

const grains: Template = {
  kind: 'grains',
  source: (name) => `/** What the grains of ${name} say of a host, in a sentence. */
import { readFile } from 'node:fs/promises'
import { grains } from 'salt-ts'

export default grains({
  async collect({ log }) {
    const text = await readFile('/etc/${name}', 'utf8').catch(() => undefined)
    if (text === undefined) log.debug('There is no /etc/${name}')
    return { ${name}: text?.trim() ?? 'unknown' }
  },
})
`,
  test: (name) => `${TEST_HEAD}import { fakeLog } from 'salt-ts/testing'
import source from './${name}.ts'

test('a host without the file is unknown', async () => {
  const { log } = fakeLog()
  assert.deepEqual(await source.collect({ opts: {}, grains: {}, log }), { ${name}: 'unknown' })
})
`,
  tryOut: (name) => `npx salt-call --local -m . grains.item ${name}`,
}

const outputter: Template = {
  kind: 'outputters',
  source: (name) => `/** How ${name} shows a value, in a sentence. */
import { outputter } from 'salt-ts'

export default outputter({
  render(value, { color }) {
    const text = JSON.stringify(value) ?? 'nothing'
    return color ? \`\\u001b[32m\${text}\\u001b[0m\` : text
  },
})
`,
  test: (name) => `${TEST_HEAD}import plugin from './${name}.ts'

test('renders a value on one line', () => {
  assert.equal(plugin.render({ web1: true }, { color: false }), '{"web1":true}')
})
`,
  tryOut: (name) => `npx salt-call --local -m . --out ${name} test.ping`,
}

const matcher: Template = {
  kind: 'matchers',
  source: (name) => `/** Which minions ${name} matches, in a sentence. */
import { matcher } from 'salt-ts'

export default matcher({
  match: (expression, { grains }) => (grains ? grains.host === expression : 'unknown'),
})
`,
  test: (name) => `${TEST_HEAD}import plugin from './${name}.ts'

const options = { delimiter: ':', nodegroups: {}, match: () => 'unknown' as const }

test('matches the minion of that host', () => {
  assert.equal(plugin.match('web1', { id: 'm1', grains: { host: 'web1' } }, options), true)
  assert.equal(plugin.match('web2', { id: 'm1', grains: { host: 'web1' } }, options), false)
})

test('does not guess without grains', () => {
  assert.equal(plugin.match('web1', { id: 'm1' }, options), 'unknown')
})
`,
}

const returner: Template = {
  kind: 'returners',
  source: (name) => `/** Where ${name} keeps returns, in a sentence. */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromRecordJson, p, type ReturnRecord, recordJson, returner, safeName, UnsavableError, writeFileAtomic } from 'salt-ts'

export default returner({
  options: { directory: p.default(p.string({ minLength: 1 }), '${name}') },
  create({ options: { directory } }) {
    /** An UnsavableError puts the return aside; after any other error it is tried again. */
    const nameOf = (text: string): string => {
      const name = safeName(text)
      if (name === undefined) throw new UnsavableError(\`\${text} cannot be the name of a file.\`)
      return name
    }
    return {
      /** Save a return to a file for its job and minion: a return that is saved twice is stored once. */
      async save(ret) {
        const folder = join(directory, nameOf(ret.jid))
        await mkdir(folder, { recursive: true })
        await writeFileAtomic(join(folder, nameOf(ret.id)), recordJson(ret))
      },
      async getJid(jid) {
        const folder = join(directory, nameOf(jid))
        const ids = await readdir(folder).catch(() => [])
        const texts = await Promise.all(ids.map((id) => readFile(join(folder, id), 'utf8')))
        return texts.map((text) => fromRecordJson(text) as ReturnRecord)
      },
    }
  },
})
`,
  test: (name) => `${TEST_HEAD}import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openReturner } from 'salt-ts/testing'
import plugin from './${name}.ts'

const ret = {
  jid: '20300101000000000000',
  id: 'web1',
  fun: 'test.ping',
  fun_args: [],
  return: true,
  retcode: 0,
  success: true,
}
const directory = await mkdtemp(join(tmpdir(), '${name}-'))
const store = await openReturner(plugin, { directory })
test.after(() => rm(directory, { recursive: true }))

test('returns the last saved return of each minion', async () => {
  await store.save({ ...ret, return: 'old' })
  await store.save(ret)
  await store.save({ ...ret, id: 'web2' })
  const found = await store.getJid?.(ret.jid)
  assert.deepEqual(found, [ret, { ...ret, id: 'web2' }])
  assert.deepEqual(await store.getJid?.('20300101000000000001'), [])
})

test('reports a return that can never be saved', async () => {
  await assert.rejects(store.save({ ...ret, id: '../web1' }), { code: 'UNSAVABLE' })
})

test('refuses an invalid option', async () => {
  await assert.rejects(openReturner(plugin, { directory: '' }), /directory/)
})
`,
  tryOut: (name) => `npx salt-call --local -m . test.ping --return ${name}`,
}

const executor: Template = {
  kind: 'executors',
  source: (name) => `/** What ${name} does with the functions of jobs, in a sentence. */
import { executor } from 'salt-ts'

export default executor({
  async execute({ fun, run }, { log }) {
    const since = performance.now()
    try {
      return await run()
    } finally {
      log.info(\`\${fun} took \${Math.round(performance.now() - since)} ms\`)
    }
  },
})
`,
  test: (name) => `${TEST_HEAD}import { fn } from 'salt-ts'
import { run } from 'salt-ts/testing'
import plugin from './${name}.ts'

const executed = (work: () => Promise<unknown>) =>
  fn((_, context) =>
    plugin.execute({ fun: 'test.ping', args: [], kwargs: {}, options: {}, run: work }, context),
  )

test('returns what the function returns, and logs how long it took', async () => {
  const { result, log } = await run(executed(async () => true))
  assert.equal(result, true)
  assert.match(log[0]?.message ?? '', /^test\\.ping took \\d+ ms$/)
})

test('throws what the function throws', async () => {
  const failing = executed(async () => {
    throw new Error('no such host')
  })
  await assert.rejects(run(failing), /no such host/)
})
`,
  tryOut: (name) => `npx salt-call --local -m . -l info test.ping --module-executors ${name}`,
}

const engine: Template = {
  kind: 'engines',
  source: (name) => `/** What ${name} does beside a master or a minion, in a sentence. */
import { engine, p } from 'salt-ts'

export default engine({
  options: { tag: p.default(p.string(), 'salt/auth') },
  async start({ options, events, log }) {
    for await (const { tag, data } of events.listen(options.tag)) log.info(\`\${tag} of \${data.id}\`)
  },
})
`,
  test: (name) => `${TEST_HEAD}import { fakeLog } from 'salt-ts/testing'
import plugin from './${name}.ts'

test('logs the id in each event', async () => {
  const { log, lines } = fakeLog()
  await plugin.start({
    options: { tag: 'salt/auth' },
    role: 'master',
    id: 'master1',
    opts: {},
    grains: {},
    events: {
      async *listen(prefix) {
        assert.equal(prefix, 'salt/auth')
        yield { tag: 'salt/auth', data: { id: 'web1' } }
      },
      fire: async () => {},
      fireMaster: async () => {},
    },
    log,
    signal: new AbortController().signal,
  })
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['salt/auth of web1'],
  )
})
`,
  tryOut: (name) =>
    `echo 'engines: [${name}]'  # into the configuration of a master or a minion, beside module_dirs`,
}

/** Templates by the singular of their kind. */
const templates: ReadonlyMap<string, Template> = new Map(
  Object.entries({ module, runner, returner, grains, outputter, matcher, executor, engine }),
)

export const templateWords: readonly string[] = [...templates.keys()]

/** Find a template by singular or plural: `module` or `modules`, `grain` or `grains`. */
export function findTemplate(word: string): Template | undefined {
  return templates.get(word) ?? templates.get(`${word}s`) ?? templates.get(word.replace(/s$/, ''))
}
