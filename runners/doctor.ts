/** Explains why a function or plugin is available, or why not. */
import {
  type Explanation,
  fn,
  type LoaderView,
  type MasterServices,
  p,
  SaltInvocationError,
  type TargetExpression,
} from 'salt-ts'
import { tgt, tgt_type } from './_target.ts'

/**
 * Show where a function comes from: which file provides it on which minions, what is wrong with that file, and why other
 * minions do not have the function. With a `kind` other than modules (runners, outputters, …), shows the same for this host.
 *
 * @example salt-run doctor.module pkg.install
 * @example salt-run doctor.module pkg.install tgt='web*'
 * @example salt-run doctor.module jobs.active kind=runners
 */
export const module = fn(
  {
    name: p.string({ description: 'A function, a module or a plugin.' }),
    tgt: p.default(p.described(tgt, 'Minions to ask.'), '*'),
    tgt_type,
    kind: p.default(p.string({ description: 'modules, runners, outputters, grains, …' }), 'modules'),
    timeout: p.optional(p.number({ minimum: 0 })),
  },
  ({ name, kind, ...target }, { master, loader }) =>
    kind === 'modules' ? askMinions(master, name, target) : askHere(loader, name, kind),
)

async function askHere(loader: LoaderView, name: string, kind: string): Promise<Explanation> {
  const view = loader.of(kind)
  if (!view) throw new SaltInvocationError(`There is no kind of extensions called '${kind}'.`)
  return view.why(name)
}

interface Target {
  readonly tgt: TargetExpression
  readonly tgt_type: string
  readonly timeout: number | undefined
}

/** Query minions, and group those with the same answer. */
async function askMinions(master: MasterServices, name: string, { tgt, tgt_type, timeout }: Target) {
  const provided = new Map<string, string[]>()
  const missing = new Map<string, string[]>()
  const warned = new Map<string, string[]>()
  const silent: Record<string, string> = {}
  const wanted = {
    tgt,
    tgtType: tgt_type,
    fun: 'sys.why' as const,
    arg: [name],
    ...(timeout !== undefined && { timeout }),
  }
  for await (const { id, return: answer, missing: reason } of master.run(wanted)) {
    if (isExplanation(answer)) for (const warning of answer.warnings ?? []) note(warned, warning, id)
    if (reason !== undefined) silent[id] = reason
    else if (!isExplanation(answer)) note(missing, `cannot say: ${String(answer)}`, id)
    else if (answer.provided_by !== null) note(provided, answer.provided_by, id)
    else note(missing, reasonOf(answer), id)
  }
  return {
    name,
    ...(provided.size > 0 && { provided_by: Object.fromEntries(provided) }),
    ...(missing.size > 0 && { not_available: Object.fromEntries(missing) }),
    ...(warned.size > 0 && { warnings: Object.fromEntries(warned) }),
    ...(Object.keys(silent).length > 0 && { no_answer: silent }),
  }
}

function note(groups: Map<string, string[]>, key: string, id: string): void {
  groups.set(key, [...(groups.get(key) ?? []), id].sort())
}

function reasonOf({ files, advice }: Explanation): string {
  const reasons = Object.entries(files).map(([file, sentence]) => `${file} ${sentence}`)
  return [...reasons, ...(advice === undefined ? [] : [advice])].join('; ')
}

const isExplanation = (answer: unknown): answer is Explanation =>
  typeof answer === 'object' && answer !== null && 'provided_by' in answer && 'files' in answer
