import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { Logins } from '../../../../core/auth/login/limit.ts'
import { remoteAddresses } from '../../../../core/master/publisher/remote-addresses.ts'
import { Supervisor } from '../../../../core/master/supervision/supervisor.ts'
import { allowedOpenFiles } from '../../../../core/process/open-files.ts'
import { workOf } from '../../../../core/process/silence.ts'
import { quietLog } from '../../../harness/log.ts'

/** Says how many files this process may open; started before, as that takes files. */
function openLimiter() {
  const shell = spawn('sh', { stdio: ['pipe', 'pipe', 'inherit'] })
  return {
    async allow(files: string) {
      shell.stdin.write(`prlimit --pid ${process.pid} --nofile=${files} && echo done\n`)
      await once(shell.stdout, 'data')
    },
    /** It waits. */
    pid: shell.pid,
    close: () => shell.stdin.end(),
  }
}

test('a child that cannot be started for lack of files fails with a sentence, and does not end the master', async () => {
  const limiter = openLimiter()
  const supervisor = new Supervisor(quietLog, {} as Logins)
  const usual = allowedOpenFiles()
  await limiter.allow('1:')
  const failed = await supervisor
    .start({ name: 'MWorker-0', entry: 'master/worker/worker-process', start: () => ({}) as never })
    .catch(String)
  await limiter.allow(`${usual}:`)
  limiter.close()
  expect(failed).toMatch(/MWorker-0 cannot be started: spawn .* EMFILE/)
})

test('while no file is left to read connections, no minion counts as gone', async () => {
  const limiter = openLimiter()
  const usual = allowedOpenFiles()
  await limiter.allow('1:')
  const looked = await remoteAddresses(4505).catch((error) => error.code)
  await limiter.allow(`${usual}:`)
  limiter.close()
  expect(looked).toBe('EMFILE')
})

test('a process that cannot be read for lack of files counts as working', async () => {
  const limiter = openLimiter()
  const usual = allowedOpenFiles()
  await limiter.allow('1:')
  const { isWorking: seen } = workOf(limiter.pid)
  await limiter.allow(`${usual}:`)
  limiter.close()
  expect(seen).toBe(true)
})
