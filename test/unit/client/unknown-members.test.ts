/** An unknown member of a request is refused as a mistake of the caller. */
import { expect, test } from 'vitest'
import {
  LocalClient,
  loadMasterConfig,
  type PublishRequest,
  RunnerClient,
} from '../../../core/client/index.ts'
import { loadMinionConfig } from '../../../core/config/index.ts'
import { fakeContext } from '../modules/context.ts'

const { config } = loadMasterConfig({ configDir: '/nonexistent' })
const subscription = { close: () => {}, async *[Symbol.asyncIterator]() {} }
const events = { subscribe: () => subscription }
const client = new LocalClient(config, { events } as never)
const request = (more: object) => ({ tgt: '*', fun: 'test.ping', ...more }) as PublishRequest

test.each([
  [{ args: [1] }, "A job takes no 'args'. Did you mean 'arg'?"],
  [{ kwargs: {} }, "A job takes no 'kwargs'. Did you mean 'kwarg'?"],
  [{ tgt_type: 'list' }, "A job takes no 'tgt_type'. Did you mean 'tgtType'?"],
  [{ gather_job_timeout: 1 }, "Did you mean 'gatherJobTimeout'?"],
  [{ completelyElse: 1 }, "A job takes no 'completelyElse'. It takes tgt, fun, arg, kwarg, "],
])('a job with %j is refused before anything is sent', async (more, sentence) => {
  for (const way of ['runJob', 'plan', 'cmd', 'cmdIter', 'cmdAsync'] as const)
    await expect(client[way](request(more)), way).rejects.toThrow(sentence)
})

test('settings of a batch with an unknown member are refused', async () => {
  const settings = { batch_wait: 1 } as object
  const sentence = "cmdBatch takes no 'batch_wait'. Did you mean 'batchWait'?"
  await expect(client.cmdBatch(request({}), 2, settings)).rejects.toThrow(sentence)
})

test('calls of a runner with an unknown member are refused', async () => {
  const runner = new RunnerClient({ config, log: fakeContext().log, user: 'ann' })
  const options = { onprogress: () => {} } as object
  await expect(runner.run('test.arg', [], {}, options)).rejects.toThrow(
    "run takes no 'onprogress'. Did you mean 'onProgress'?",
  )
  await expect(runner.run('test.arg', { a: 1 } as never, {})).rejects.toThrow("run('test.arg', [], {})")
})

test.each([
  ['loadMasterConfig', loadMasterConfig],
  ['loadMinionConfig', loadMinionConfig],
] as const)('the argument of %s with an unknown member is refused', (name, load) => {
  expect(() => load('/etc/salt/master' as never)).toThrow(
    `${name} takes a map: ${name}({ configDir: '/etc/salt' })`,
  )
  expect(() => load({ config_dir: '/etc/salt' } as never)).toThrow(
    `${name} takes no 'config_dir'. Did you mean 'configDir'?`,
  )
})
