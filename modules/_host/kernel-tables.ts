/** Readers of the tables of /proc that count what the kernel does, in the shapes of Salt's status module. */
import { numberOrText } from './numbers.ts'

type Values = Record<string, unknown>

const DISK_COLUMNS = [
  ...['major', 'minor', 'device', 'reads_issued', 'reads_merged', 'sectors_read', 'ms_spent_reading'],
  ...['writes_completed', 'writes_merged', 'sectors_written', 'ms_spent_writing', 'io_in_progress'],
  ...['ms_spent_in_io', 'weighted_ms_spent_in_io'],
]
const NET_COLUMNS = [
  ...['rx_bytes', 'rx_packets', 'rx_errs', 'rx_drop', 'rx_fifo', 'rx_frame', 'rx_compressed', 'rx_multicast'],
  ...['tx_bytes', 'tx_packets', 'tx_errs', 'tx_drop', 'tx_fifo', 'tx_colls', 'tx_carrier', 'tx_compressed'],
]
const CPU_COLUMNS = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal']

/** Read /proc/stat: the times of all processors together in clock ticks, and counters. */
export function readCpuStats(text: string): Record<string, unknown> {
  return Object.fromEntries(
    rowsOf(text).map(([name = '', ...values]) => {
      const numbers = values.map(numberOrText)
      if (name === 'cpu') return [name, named(CPU_COLUMNS, numbers)]
      if (name === 'intr') return [name, { total: numbers[0], irqs: numbers.slice(1) }]
      if (name === 'softirq') return [name, { total: numbers[0], softirqs: numbers.slice(1) }]
      return [name, numbers[0]]
    }),
  )
}

/** Read /proc/meminfo: values as text, with their unit. */
export function readMemInfo(text: string): Record<string, { value: string; unit?: string }> {
  return Object.fromEntries(
    rowsOf(text).map(([name = '', value = '', unit]) => [
      name.replaceAll(':', ''),
      unit === undefined ? { value } : { value, unit },
    ]),
  )
}

/** Read /proc/cpuinfo. Of several processors the last one counts. */
export function readCpuInfo(text: string): Record<string, string | string[]> {
  const pairs = text
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()])
  return Object.fromEntries(
    pairs.map(([name = '', value = '']) => [name, name === 'flags' ? words(value) : value]),
  )
}

/** Read /proc/diskstats, by device. */
export function readDiskStats(text: string): Record<string, Values> {
  return Object.fromEntries(
    rowsOf(text).map((row) => [row[2] ?? '', named(DISK_COLUMNS, row.map(numberOrText))]),
  )
}

/** Read /proc/vmstat. */
export function readVmStats(text: string): Values {
  return Object.fromEntries(rowsOf(text).map(([name = '', value = '']) => [name, numberOrText(value)]))
}

/** Read /proc/net/netstat: pairs of lines, the names and the values. */
export function readNetStats(text: string): Record<string, Values> {
  const rows = rowsOf(text)
  const pairs = rows.flatMap((row, at) =>
    at > 0 && rows[at - 1]![0] === row[0] ? [[rows[at - 1]!, row]] : [],
  )
  return Object.fromEntries(
    pairs.map(([names = [], values = []]) => [
      (names[0] ?? '').replaceAll(':', ''),
      named(names.slice(1), values.slice(1).map(numberOrText)),
    ]),
  )
}

/** Read /proc/net/dev, by interface. */
export function readNetDev(text: string): Record<string, Values> {
  const lines = text.split('\n').filter((line) => line.includes(':'))
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(':')
      const iface = line.slice(0, at).trim()
      return [iface, { iface, ...named(NET_COLUMNS, words(line.slice(at + 1)).map(numberOrText)) }]
    }),
  )
}

/** Count the processors of a list such as `0-3,8`. */
export function countProcessors(list: string): number {
  const sizes = list.split(',').map((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return last - first + 1
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

const words = (line: string): string[] => line.split(/\s+/).filter(Boolean)
const rowsOf = (text: string): string[][] => text.split('\n').filter(Boolean).map(words)

function named(names: readonly string[], values: readonly unknown[]): Values {
  return Object.fromEntries(
    names.flatMap((name, at) => (values[at] === undefined ? [] : [[name, values[at]]])),
  )
}
