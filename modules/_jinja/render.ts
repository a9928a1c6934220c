/** Renders templates: runs their statements, and collects the text. */

import { setImmediate } from 'node:timers/promises'
import { assign } from './assign.ts'
import { parsedData } from './data.ts'
import type { Environment } from './environment.ts'
import { TemplateError, UndefinedError } from './errors.ts'
import { Evaluator } from './evaluate.ts'
import { Loop } from './loop.ts'
import { macroOf } from './macro.ts'
import { Scope } from './scope.ts'
import type { Statement, StatementOf, Template } from './syntax/nodes.ts'
import { parse } from './syntax/parse.ts'
import { notFound, TemplateLoader } from './template-loader.ts'
import { Callable, HostObject, Undefined } from './values/objects.ts'
import { elements } from './values/sequences.ts'
import { text } from './values/text.ts'

/** How deep macros, includes and recursive loops may be inside each other. */
const MAX_DEPTH = 100

/** How long loops run without letting anything else run. */
const TURN_MS = 50

/** Render a text as a template. @throws TemplateError */
export async function render(source: string, environment: Environment): Promise<string> {
  const template = parse(source, environment.whiteSpace)
  return new Renderer(environment).template(template, new Scope(environment.globals))
}

/** What one template writes. `parent` is the one it extends. */
interface TemplateRun {
  readonly template: Template
  /** Blocks by name, the outermost override first, with the templates that they are in. */
  readonly blocks: Map<string, { readonly template: Template; readonly body: readonly Statement[] }[]>
  readonly scope: Scope
  readonly parts: string[]
  parent?: Template
}

type Interrupt = 'break' | 'continue' | undefined

class Renderer {
  readonly #environment: Environment
  readonly #evaluator: Evaluator
  readonly #loader: TemplateLoader
  #depth = 0
  #turnBegan = performance.now()

  constructor(environment: Environment) {
    this.#environment = environment
    this.#evaluator = new Evaluator(environment)
    this.#loader = new TemplateLoader(environment)
  }

  async template(
    template: Template,
    scope: Scope,
    blocks: TemplateRun['blocks'] = new Map(),
  ): Promise<string> {
    for (const [name, body] of template.blocks)
      blocks.set(name, [...(blocks.get(name) ?? []), { template, body }])
    const run: TemplateRun = { template, blocks, scope, parts: [] }
    scope.set('self', this.#self(run))
    await this.#deeper(() => this.#runBody(template.body, scope, run))
    scope.own.delete('self')
    const { parent } = run
    return parent ? this.#deeper(() => this.template(parent, scope, blocks)) : run.parts.join('')
  }

  /** `self.name()` gives a block. */
  #self(run: TemplateRun): unknown {
    return new HostObject({
      typeName: 'TemplateReference',
      text: () => `<TemplateReference ${text(run.template.name ?? null)}>`,
      member: (name) =>
        run.blocks.has(name) ? new Callable(name, () => this.#block(name, 0, run.scope, run)) : undefined,
    })
  }

  async #deeper<T>(run: () => Promise<T>): Promise<T> {
    if (this.#depth >= MAX_DEPTH) throw new TemplateError('maximum recursion depth exceeded')
    this.#depth++
    try {
      return await run()
    } finally {
      this.#depth--
    }
  }

  async #runBody(body: readonly Statement[], scope: Scope, run: TemplateRun): Promise<Interrupt> {
    for (const statement of body) {
      try {
        const interrupt = await this.#statement(statement, scope, run)
        if (interrupt) return interrupt
      } catch (error) {
        throw located(error, statement.line, run.template.name)
      }
    }
    return undefined
  }

  /** Run a body by itself, and return its text, also in a template that extends another one and writes nothing outside of blocks. */
  async #textOf(body: readonly Statement[], scope: Scope, run: TemplateRun): Promise<string> {
    const parts: string[] = []
    const { parent: _, ...rest } = run
    await this.#runBody(body, scope, { ...rest, parts })
    return parts.join('')
  }

  async #statement(node: Statement, scope: Scope, run: TemplateRun): Promise<Interrupt> {
    const evaluator = this.#evaluator
    const write = (part: string) => {
      if (!run.parent) run.parts.push(part)
    }
    switch (node.type) {
      case 'data':
        write(node.text)
        return undefined
      case 'print':
        write(text(await evaluator.evaluate(node.value, scope)))
        return undefined
      case 'do':
        await evaluator.evaluate(node.value, scope)
        return undefined
      case 'break':
      case 'continue':
        return node.type
      case 'if':
        return this.#if(node, scope, run)
      case 'for':
        await this.#for(node, await evaluator.evaluate(node.over, scope), { scope, run, depth: 0 })
        return undefined
      case 'set':
        assign(node.target, await evaluator.evaluate(node.value, scope), scope)
        return undefined
      case 'set block':
        return this.#setBlock(node, scope, run)
      case 'with':
        return this.#with(node, scope, run)
      case 'body':
        return this.#runBody(node.body, scope.inner(), run)
      case 'filter block': {
        const shown = await this.#textOf(node.body, scope.inner(), run)
        write(text(await evaluator.evaluate(node.filters, scope, shown)))
        return undefined
      }
      case 'macro':
        scope.set(node.name, this.#macro(node, scope, run))
        return undefined
      case 'call block':
        write(text(await this.#callBlock(node, scope, run)))
        return undefined
      case 'block':
        if (!run.parent) write(await this.#block(node.name, 0, node.isScoped ? scope : run.scope, run))
        return undefined
      case 'extends':
        if (run.parent) throw new TemplateError('extended multiple times')
        run.parent = await this.#loader.load(
          await evaluator.evaluate(node.template, scope),
          run.template.name,
        )
        return undefined
      case 'include':
        write(await this.#include(node, scope, run))
        return undefined
      case 'import':
        scope.set(node.name, await this.#module(node, scope, run))
        return undefined
      case 'from':
        return this.#from(node, scope, run)
      case 'load':
        return this.#loadData(node, scope, run)
      case 'import data':
        return this.#importData(node, scope, run)
    }
  }

  async #if({ branches, otherwise }: StatementOf<'if'>, scope: Scope, run: TemplateRun): Promise<Interrupt> {
    for (const { test, body } of branches)
      if (await this.#evaluator.isTrue(test, scope)) return this.#runBody(body, scope, run)
    return this.#runBody(otherwise, scope, run)
  }

  async #for(
    node: StatementOf<'for'>,
    over: unknown,
    { scope, run, depth }: { scope: Scope; run: TemplateRun; depth: number },
  ): Promise<void> {
    const items = await this.#chosen(node, elements(over), scope)
    const again = async (inner: unknown) => {
      const part: TemplateRun = { ...run, parts: [] }
      await this.#deeper(() => this.#for(node, inner, { scope, run: part, depth: depth + 1 }))
      return part.parts.join('')
    }
    const loop = new Loop(items, depth, node.isRecursive ? again : undefined)
    for (const element of items) {
      await this.#breathe()
      const inner = scope.inner()
      assign(node.target, element, inner)
      inner.set('loop', loop.object)
      if ((await this.#runBody(node.body, inner, run)) === 'break') break
      loop.next()
    }
    if (items.length === 0) await this.#runBody(node.otherwise, scope.inner(), run)
  }

  /** Stop if the job was killed, and let timers and signals have their turn, which a loop alone would not. */
  async #breathe(): Promise<void> {
    this.#environment.signal.throwIfAborted()
    if (performance.now() - this.#turnBegan < TURN_MS) return
    await setImmediate()
    this.#turnBegan = performance.now()
  }

  /** The elements for which the condition of a loop holds. */
  async #chosen({ target, condition }: StatementOf<'for'>, all: readonly unknown[], scope: Scope) {
    if (!condition) return [...all]
    const chosen: unknown[] = []
    for (const element of all) {
      await this.#breathe()
      const inner = scope.inner()
      assign(target, element, inner)
      if (await this.#evaluator.isTrue(condition, inner)) chosen.push(element)
    }
    return chosen
  }

  async #setBlock(
    { target, filters, body }: StatementOf<'set block'>,
    scope: Scope,
    run: TemplateRun,
  ): Promise<undefined> {
    const shown = await this.#textOf(body, scope.inner(), run)
    assign(target, filters ? await this.#evaluator.evaluate(filters, scope, shown) : shown, scope)
  }

  async #loadData(
    { name, format, body }: StatementOf<'load'>,
    scope: Scope,
    run: TemplateRun,
  ): Promise<undefined> {
    const shown = await this.#textOf(body, scope.inner(), run)
    scope.set(name, await parsedData(shown, format, this.#environment))
  }

  async #importData(node: StatementOf<'import data'>, scope: Scope, run: TemplateRun): Promise<undefined> {
    const name = await this.#evaluator.evaluate(node.template, scope)
    const template = await this.#loader.load(name, run.template.name)
    const shown = await this.template(template, new Scope(this.#environment.globals))
    scope.set(node.name, await parsedData(shown, node.format, this.#environment))
  }

  async #with({ values, body }: StatementOf<'with'>, scope: Scope, run: TemplateRun): Promise<Interrupt> {
    const inner = scope.inner()
    for (const [target, value] of values) assign(target, await this.#evaluator.evaluate(value, scope), inner)
    return this.#runBody(body, inner, run)
  }

  #macro(
    node: Pick<StatementOf<'macro'>, 'name' | 'parameters' | 'takes' | 'body'>,
    scope: Scope,
    run: TemplateRun,
  ): Callable {
    return macroOf(node, scope, this.#evaluator, (inner) =>
      this.#deeper(() => this.#textOf(node.body, inner, run)),
    )
  }

  async #callBlock(node: StatementOf<'call block'>, scope: Scope, run: TemplateRun): Promise<unknown> {
    const caller = this.#macro({ ...node, name: 'caller' }, scope, run)
    const called = await this.#evaluator.evaluate(node.call.of, scope)
    const { args, kwargs } = await this.#evaluator.given(node.call.given, scope)
    return this.#evaluator.call(called, { args, kwargs: new Map([...kwargs, ['caller', caller]]) })
  }

  /** The text of a block. `level` counts how often `super()` was called. */
  async #block(name: string, level: number, scope: Scope, run: TemplateRun): Promise<string> {
    const block = run.blocks.get(name)?.[level]
    if (!block) throw new UndefinedError(`there is no parent block called '${name}'.`)
    const inner = scope.inner()
    inner.set('super', this.#super(name, level + 1, scope, run))
    return this.#deeper(() => this.#textOf(block.body, inner, { ...run, template: block.template }))
  }

  /** `super()`, and `super.super()` above that. */
  #super(name: string, level: number, scope: Scope, run: TemplateRun): Callable {
    const isLast = level + 1 >= (run.blocks.get(name)?.length ?? 0)
    return new Callable(
      'super',
      () => this.#block(name, level, scope, run),
      isLast ? {} : { members: { super: this.#super(name, level + 1, scope, run) } },
    )
  }

  async #include(node: StatementOf<'include'>, scope: Scope, run: TemplateRun): Promise<string> {
    const wanted = await this.#evaluator.evaluate(node.template, scope)
    const names = Array.isArray(wanted) ? wanted : [wanted]
    for (const name of names) {
      const template = await this.#loader.find(name, run.template.name)
      if (!template) continue
      return this.template(template, this.#scopeOf(node, scope))
    }
    if (node.isOptional) return ''
    throw notFound(names.map(text).join(', '))
  }

  /** What another template sees: with the context all names but `loop`. */
  #scopeOf({ withContext }: { readonly withContext: boolean }, scope: Scope): Scope {
    if (!withContext) return new Scope(this.#environment.globals)
    const around = scope.inner()
    around.set('loop', this.#environment.globals.get('loop'))
    return around.inner()
  }

  /** An imported template: its text, its macros, and the names that it sets. */
  async #exports(
    node: StatementOf<'import'> | StatementOf<'from'>,
    scope: Scope,
    run: TemplateRun,
  ): Promise<{ own: Map<string, unknown>; shown: string; name: string }> {
    const wanted = await this.#evaluator.evaluate(node.template, scope)
    const template = await this.#loader.load(wanted, run.template.name)
    const inner = this.#scopeOf(node, scope)
    const shown = await this.template(template, inner)
    return { own: inner.own, shown, name: text(wanted) }
  }

  async #module(node: StatementOf<'import'>, scope: Scope, run: TemplateRun): Promise<unknown> {
    const { own, shown } = await this.#exports(node, scope, run)
    return new HostObject({
      typeName: 'TemplateModule',
      member: (key) => (key.startsWith('_') ? undefined : own.get(key)),
      text: () => shown,
    })
  }

  async #from(node: StatementOf<'from'>, scope: Scope, run: TemplateRun): Promise<undefined> {
    const { own, name } = await this.#exports(node, scope, run)
    for (const [wanted, as] of node.names) {
      const missing = new Undefined(`the template '${name}' does not export the requested name '${wanted}'`)
      scope.set(as, own.has(wanted) ? own.get(wanted) : missing)
    }
  }
}

/** Add where an error occurred, unless that is known. A RangeError is a limit of JavaScript: of recursion, or of the length of a text. */
function located(thrown: unknown, line: number, template: string | undefined): unknown {
  const error = thrown instanceof RangeError ? new TemplateError(thrown.message, { cause: thrown }) : thrown
  if (!(error instanceof TemplateError)) return error
  if (error.line !== undefined) return error
  error.line = line
  error.template = template
  return error
}
