import { createRequire } from 'node:module'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Meter } from './meter.ts'

/** Interval at which the delay of timers is sampled. */
const RESOLUTION_MS = 20
const NANOSECONDS = 1e9

/** Open a meter that includes the metrics of the process itself, under the label `name`. */
export function openMeter(name: string): Meter {
  const meter = new Meter()
  watchProcess(meter, name)
  return meter
}

/** Register the versions of the program. Called once for each program. */
export function setBuildInfo(meter: Meter, program: string): void {
  const { version } = createRequire(import.meta.url)('salt-ts/package.json') as { version: string }
  meter.read(() => [['salt_build', 1, [program, version, process.version]]])
}

function watchProcess(meter: Meter, name: string): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const start = Date.now() / 1000 - process.uptime()
  meter.read(() => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const late = Math.max(0, delay.max / NANOSECONDS - RESOLUTION_MS / 1000)
    const isMeasured = delay.count > 0
    delay.reset()
    return [
      ['salt_process_cpu_seconds', (user + system) / 1e6, [name]],
      ['salt_process_resident_memory_bytes', rss, [name]],
      ['salt_process_heap_bytes', heapUsed, [name]],
      ['salt_process_event_loop_busy_seconds', performance.eventLoopUtilization().active / 1000, [name]],
      ['salt_process_event_loop_lag_seconds', isMeasured ? late : 0, [name]],
      ['salt_process_start_time_seconds', start, [name]],
    ]
  })
}
