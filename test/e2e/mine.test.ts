/** The mine: minions keep values of functions with the master, at their start and when they are asked to. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { Cluster } from '../harness/daemons.ts'
import { pageBlocks } from '../harness/page-blocks.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({ master: { auto_accept: true } })
})
afterAll(() => cluster.close())

const json = async (program: 'salt' | 'salt-run' | 'salt-key', ...words: string[]) =>
  JSON.parse((await cluster.command(program, ...words, '--out', 'json', '--static')).stdout || '{}')
const runner = async (...words: string[]) =>
  JSON.parse((await cluster.command('salt-run', ...words, '--out', 'json')).stdout || '{}')

test.each([true, false])(
  'a minion sends the values of mine_functions when it starts, and other minions get them (multiprocessing: %s)',
  async (multiprocessing) => {
    const id = multiprocessing ? 'web1' : 'web2'
    const mine_functions = {
      'test.ping': [],
      greeting: [{ mine_function: 'test.echo' }, 'hello'],
      secret: { mine_function: 'test.ping', allow_tgt: 'db*' },
    }
    const minion = await cluster.addMinion(id, { multiprocessing, mine_functions })
    await until('the values', async () => (await runner('mine.get', id, 'greeting'))[id] === 'hello')
    await cluster.addMinion(`asks-${id}`, { multiprocessing })
    await until(
      'the other minion',
      async () => (await json('salt', `asks-${id}`, 'test.ping'))[`asks-${id}`] === true,
    )
    const asked = await json('salt', `asks-${id}`, 'mine.get', id, 'test.ping,greeting,secret')
    expect(asked[`asks-${id}`]).toEqual({ 'test.ping': { [id]: true }, greeting: { [id]: 'hello' } })
    expect(Object.keys((await runner('mine.list', id))[id])).toEqual(['greeting', 'secret', 'test.ping'])
    expect(await json('salt', id, 'mine.send', 'here', 'mine_function=test.echo', 'text=there')).toEqual({
      [id]: true,
    })
    expect(await runner('mine.get', '*', 'here')).toEqual({ [id]: 'there' })
    expect(await json('salt', id, 'mine.delete', 'here')).toEqual({ [id]: true })
    expect(await runner('mine.update', id)).toEqual({ [id]: true })
    expect(Object.keys((await runner('cache.mine', id))[id])).toEqual(['greeting', 'secret', 'test.ping'])
    await minion.stop()
    await cluster.command('salt-key', '-d', id, '-y')
    expect(await runner('mine.get', '*', 'greeting')).toEqual({})
  },
)

test('the guide shows what the commands do', async () => {
  const [yaml, sh] = pageBlocks('docs/mine.md')
  await cluster.addMinion('web5', parse(yaml?.text ?? ''))
  await cluster.addMinion('lb1')
  await until('the values', async () => (await runner('mine.get', 'web5', 'host')).web5 === 'web5')
  await until('the other minion', async () => (await json('salt', 'lb1', 'test.ping')).lb1 === true)
  const lines = sh?.text.trim().split('\n') ?? []
  expect(lines.length).toBeGreaterThan(6)
  for (const line of lines) {
    const [program = '', ...words] = line.replace(/ +#.*$/, '').split(' ')
    const typed = words.map((word) => word.replace(/^'(.*)'$/, '$1').replace(/='(.*)'$/, '=$1'))
    const { code, stdout } = await cluster.command(program as 'salt', ...typed)
    expect([line, code]).toEqual([line, 0])
    if (line.startsWith('salt lb1')) expect(stdout).toContain(line.includes('role:web') ? 'lb1' : 'web5')
  }
})
