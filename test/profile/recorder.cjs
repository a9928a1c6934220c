/**
 * Preloaded into every process of Node that is profiled. `PROFILE_FOLDER` receives `<pid>.json`, what `Profiler.stop` of V8's inspector
 * gives and the name of the process. With `PROFILE_WHOLE` the whole life of the process is recorded; else SIGUSR2 begins, and ends it.
 */
const { renameSync, writeFileSync } = require('node:fs')
const { Session } = require('node:inspector')
const path = require('node:path')

const INTERVAL_US = 200
const { PROFILE_FOLDER: folder, PROFILE_WHOLE: whole } = process.env

let session

function begin() {
  session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  session.post('Profiler.start')
}

function end() {
  session.post('Profiler.stop', (error, { profile } = {}) => {
    if (error) return
    const file = path.join(folder, `${process.pid}.json`)
    writeFileSync(`${file}.part`, JSON.stringify({ title: titleOf(process), profile }))
    renameSync(`${file}.part`, file)
  })
  session.disconnect()
  session = undefined
}

/** Daemons name their processes; of others it is the name of the program. */
const titleOf = ({ title, argv }) =>
  path.basename(title) === 'node' ? path.basename(argv[1] ?? title) : title

if (whole) {
  begin()
  process.once('exit', end)
} else process.on('SIGUSR2', () => (session ? end() : begin()))
