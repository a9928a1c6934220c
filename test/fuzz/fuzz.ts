import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Random } from '../harness/random.ts'
import { mutate } from './mutate.ts'
import { must, type Target } from './target.ts'

/** An input whose outcome is not allowed. */
export interface Finding {
  readonly problem: unknown
  readonly input: Buffer
}

export interface Plan {
  /** Inputs that run first, all of them. */
  readonly corpus: readonly Buffer[]
  readonly cases: number
  readonly seed: number
  /** Time, by `performance.now()`, at which to stop. */
  readonly deadline?: number
  /** Called before an input runs. */
  readonly onInput?: (input: Buffer) => void
}

export interface Report {
  readonly cases: number
  readonly seconds: number
  /** How often each kind of outcome occurred. */
  readonly outcomes: ReadonlyMap<string, number>
  readonly findings: readonly Finding[]
}

const PATIENCE_MS = 1000
/** An input counts as slow if it is so each time, by processor time if it does not wait: other processes want the processor, too. */
const ATTEMPTS = 3
/** Inputs in a round, after which there are checks; memory is measured in every so many rounds. */
const ROUND = 2_000
const MEASURED_ROUND = 25
const REST_MS = 1_000
const MAX_GROWTH_BYTES = 64 * 1024 * 1024
const MAX_FINDINGS = 5
/** Inputs with an outcome of a new kind are changed further. */
const MAX_KEPT = 500

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Run a target on its corpus, its seeds and inputs made of these. */
export async function fuzz(target: Target, plan: Plan): Promise<Report> {
  const run = new Run(target, plan)
  process.on('unhandledRejection', run.onRejection)
  try {
    return await run.all()
  } finally {
    process.off('unhandledRejection', run.onRejection)
  }
}

class Run {
  readonly #target: Target
  readonly #plan: Plan
  readonly #random: Random
  readonly #pool: Buffer[]
  /** Seeds and corpus, which run before anything that is made of them. */
  readonly #first: Buffer[]
  readonly #outcomes = new Map<string, number>()
  readonly #findings: Finding[] = []
  readonly #start = performance.now()
  readonly #members = countMembers()
  #cases = 0
  #last: Buffer = Buffer.alloc(0)
  #memory: number | undefined

  constructor(target: Target, plan: Plan) {
    this.#target = target
    this.#plan = plan
    this.#random = new Random(plan.seed)
    this.#pool = [...target.seeds, ...plan.corpus]
    this.#first = [...this.#pool]
  }

  readonly onRejection = (problem: unknown): void =>
    this.#note(new Error('A promise was rejected and nobody noticed', { cause: problem }), this.#last)

  async all(): Promise<Report> {
    const { atOnce = 1 } = this.#target
    for (let round = 1; this.#goesOn(); round++) {
      const end = round * ROUND
      await Promise.all(Array.from({ length: atOnce }, () => this.#some(end)))
      await this.#check(round)
    }
    const seconds = (performance.now() - this.#start) / 1000
    return { cases: this.#cases, seconds, outcomes: this.#outcomes, findings: this.#findings }
  }

  #goesOn(): boolean {
    const { cases, deadline = Number.POSITIVE_INFINITY } = this.#plan
    if (this.#findings.length >= MAX_FINDINGS || performance.now() >= deadline) return false
    return this.#first.length > 0 || this.#cases < cases
  }

  /** Run one input after the other, until that many have run. */
  async #some(end: number): Promise<void> {
    while (this.#cases < end && this.#goesOn()) await this.#one(this.#first.shift() ?? this.#made())
  }

  #made(): Buffer {
    return mutate(this.#pool, this.#target, this.#random)
  }

  async #one(input: Buffer): Promise<void> {
    this.#cases++
    this.#last = input
    this.#plan.onInput?.(input)
    const { patienceMs = PATIENCE_MS } = this.#target
    const start = performance.now()
    try {
      const running = this.#target.run(input)
      const outcome = typeof running === 'string' ? running : await running
      if (performance.now() - start > patienceMs) await this.#measure(input, patienceMs)
      must(countMembers() === this.#members, 'A prototype was changed')
      this.#count(outcome, input)
    } catch (problem) {
      this.#note(problem, input)
    }
  }

  #count(outcome: string, input: Buffer): void {
    const before = this.#outcomes.get(outcome) ?? 0
    this.#outcomes.set(outcome, before + 1)
    if (before === 0 && this.#pool.length < this.#target.seeds.length + MAX_KEPT) this.#pool.push(input)
  }

  async #measure(input: Buffer, patienceMs: number): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const [start, before] = [performance.now(), process.cpuUsage()]
      await this.#target.run(input)
      const { user, system } = process.cpuUsage(before)
      const waits = (this.#target.atOnce ?? 1) > 1
      const takenMs = waits ? performance.now() - start : (user + system) / 1000
      if (takenMs < patienceMs) return
    }
    throw new Error(`It takes more than ${patienceMs} ms`)
  }

  /** Check, while nothing runs, what concerns many inputs. The event loop turns, so that rejections are noticed. */
  async #check(round: number): Promise<void> {
    await new Promise(setImmediate)
    try {
      await this.#target.check?.()
      if (round % MEASURED_ROUND === 0) await this.#checkMemory()
    } catch (problem) {
      this.#note(problem, this.#last)
    }
  }

  /** Compare memory with what it was at first. What waits to be sent is no growth: it is gone after a rest. */
  async #checkMemory(): Promise<void> {
    let grown = 0
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      await delay(REST_MS)
      collectGarbage()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      this.#memory ??= heapUsed + arrayBuffers
      grown = heapUsed + arrayBuffers - this.#memory
      if (grown < MAX_GROWTH_BYTES) return
    }
    throw new Error(`Memory grew by ${Math.round(grown / 2 ** 20)} MB in ${this.#cases} cases`)
  }

  /** Keep a problem that is not known yet. */
  #note(problem: unknown, input: Buffer): void {
    const isKnown = this.#findings.some((finding) => placeOf(finding.problem) === placeOf(problem))
    if (!isKnown) this.#findings.push({ problem, input: Buffer.from(input) })
  }
}

/** What distinguishes a problem: where it was thrown, and its text without what differs between inputs. */
function placeOf(problem: unknown): string {
  if (!(problem instanceof Error)) return String(problem)
  const place = problem.stack?.split('\n').find((line) => /^\s+at /.test(line))
  return `${problem.name} ${problem.message.replace(/\d+|'[^']*'/g, '…')} ${place}`
}

const prototypes = [Object, Array, Function, Map, Buffer, String, Number, Promise].map(
  ({ prototype }) => prototype,
)

/** The number of members of all prototypes. */
const countMembers = (): number =>
  prototypes.reduce((sum, prototype) => sum + Reflect.ownKeys(prototype).length, 0)
