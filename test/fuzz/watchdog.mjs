/** A thread that ends the process if one input runs without end, after it has kept that input. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'

const { shared, folder, patienceMs } = workerData
const [count, length] = [new Int32Array(shared, 0, 1), new Int32Array(shared, 4, 1)]

let seen = -1
let since = performance.now()
setInterval(() => {
  const now = Atomics.load(count, 0)
  if (now !== seen) {
    seen = now
    since = performance.now()
  } else if (performance.now() - since > patienceMs) {
    const path = join(folder, 'endless')
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, new Uint8Array(shared, 8, length[0]))
    process.stderr.write(`An input runs without end: ${path}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}, 1000)
