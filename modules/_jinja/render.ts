/** Renders templates: runs their statements, and collects the text. */
import { setImmediate } from 'node:timers/promises'
import { parsedData } from './data.ts'
import type { Environment } from './environment.ts'
import { TemplateError, UndefinedError } from './errors.ts'
import { Evaluator } from './evaluate.ts'
import { Loop } from './loop.ts'
import { macroOf } from './macro.ts'
import { Scope } from './scope.ts'
import type { Statement, StatementOf, Target, Template } from './syntax/nodes.ts'
import { parse } from './syntax/parse.ts'
import { Callable, elements, HostObject, text, typeOf, Undefined } from './values/values.ts'

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
interface Output {
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
  readonly #loaded = new Map<string, Template>()
  #depth = 0
  #turnBegan = performance.now()

  constructor(environment: Environment) {
    this.#environment = environment
    this.#evaluator = new Evaluator(environment)
  }

  async template(template: Template, scope: Scope, blocks: Output['blocks'] = new Map()): Promise<string> {
    for (const [name, body] of template.blocks)
      blocks.set(name, [...(blocks.get(name) ?? []), { template, body }])
    const output: Output = { template, blocks, scope, parts: [] }
    scope.set('self', this.#self(output))
    await this.#deeper(() => this.#run(template.body, scope, output))
    scope.own.delete('self')
    const { parent } = output
    return parent ? this.#deeper(() => this.template(parent, scope, blocks)) : output.parts.join('')
  }

  /** `self.name()` gives a block. */
  #self(output: Output): unknown {
    return new HostObject({
      typeName: 'TemplateReference',
      text: () => `<TemplateReference ${text(output.template.name ?? null)}>`,
      member: (name) =>
        output.blocks.has(name)
          ? new Callable(name, () => this.#block(name, 0, output.scope, output))
          : undefined,
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

  async #run(body: readonly Statement[], scope: Scope, output: Output): Promise<Interrupt> {
    for (const statement of body) {
      try {
        const interrupt = await this.#statement(statement, scope, output)
        if (interrupt) return interrupt
      } catch (error) {
        throw located(error, statement.line, output.template.name)
      }
    }
    return undefined
  }

  /** Run a body by itself, and return its text. */
  async #textOf(body: readonly Statement[], scope: Scope, output: Output): Promise<string> {
    const parts: string[] = []
    const { parent: _, ...rest } = output
    await this.#run(body, scope, { ...rest, parts })
    return parts.join('')
  }

  async #statement(node: Statement, scope: Scope, output: Output): Promise<Interrupt> {
    const evaluator = this.#evaluator
    const write = (part: string) => {
      if (!output.parent) output.parts.push(part)
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
        return this.#if(node, scope, output)
      case 'for':
        await this.#for(node, await evaluator.evaluate(node.over, scope), { scope, output, depth: 0 })
        return undefined
      case 'set':
        this.#assign(node.target, await evaluator.evaluate(node.value, scope), scope)
        return undefined
      case 'set block': {
        const shown = await this.#textOf(node.body, scope.inner(), output)
        this.#assign(
          node.target,
          node.filters ? await evaluator.evaluate(node.filters, scope, shown) : shown,
          scope,
        )
        return undefined
      }
      case 'with':
        return this.#with(node, scope, output)
      case 'scope':
        return this.#run(node.body, scope.inner(), output)
      case 'filter block': {
        const shown = await this.#textOf(node.body, scope.inner(), output)
        write(text(await evaluator.evaluate(node.filters, scope, shown)))
        return undefined
      }
      case 'macro':
        scope.set(node.name, this.#macro(node, scope, output))
        return undefined
      case 'call block':
        write(text(await this.#callBlock(node, scope, output)))
        return undefined
      case 'block':
        if (!output.parent)
          write(await this.#block(node.name, 0, node.isScoped ? scope : output.scope, output))
        return undefined
      case 'extends':
        if (output.parent) throw new TemplateError('extended multiple times')
        output.parent = await this.#load(await evaluator.evaluate(node.template, scope), output.template.name)
        return undefined
      case 'include':
        write(await this.#include(node, scope, output))
        return undefined
      case 'import':
        scope.set(node.name, await this.#module(node, scope, output))
        return undefined
      case 'from':
        return this.#from(node, scope, output)
      case 'load': {
        const shown = await this.#textOf(node.body, scope.inner(), output)
        scope.set(node.name, await parsedData(shown, node.format, this.#environment))
        return undefined
      }
      case 'import data': {
        const template = await this.#load(
          await evaluator.evaluate(node.template, scope),
          output.template.name,
        )
        const shown = await this.template(template, new Scope(this.#environment.globals))
        scope.set(node.name, await parsedData(shown, node.format, this.#environment))
        return undefined
      }
    }
  }

  async #if({ branches, otherwise }: StatementOf<'if'>, scope: Scope, output: Output): Promise<Interrupt> {
    for (const { test, body } of branches)
      if (await this.#evaluator.isTrue(test, scope)) return this.#run(body, scope, output)
    return this.#run(otherwise, scope, output)
  }

  async #for(
    node: StatementOf<'for'>,
    over: unknown,
    { scope, output, depth }: { scope: Scope; output: Output; depth: number },
  ): Promise<void> {
    const items = await this.#chosen(node, elements(over), scope)
    const again = async (inner: unknown) => {
      const part: Output = { ...output, parts: [] }
      await this.#deeper(() => this.#for(node, inner, { scope, output: part, depth: depth + 1 }))
      return part.parts.join('')
    }
    const loop = new Loop(items, depth, node.isRecursive ? again : undefined)
    for (const element of items) {
      await this.#breathe()
      const inner = scope.inner()
      this.#assign(node.target, element, inner)
      inner.set('loop', loop.object)
      if ((await this.#run(node.body, inner, output)) === 'break') break
      loop.next()
    }
    if (items.length === 0) await this.#run(node.otherwise, scope.inner(), output)
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
      this.#assign(target, element, inner)
      if (await this.#evaluator.isTrue(condition, inner)) chosen.push(element)
    }
    return chosen
  }

  #assign(target: Target, value: unknown, scope: Scope): void {
    if (target.type === 'target') scope.set(target.name, value)
    else if (target.type === 'member') {
      const object = scope.get(target.of)
      if (!(object instanceof HostObject) || !object.parts.assign)
        throw new TemplateError('cannot assign attribute on non-namespace object')
      object.parts.assign(target.name, value)
    } else {
      const items = elements(value)
      const { length } = target.items
      if (items.length !== length)
        throw new TemplateError(
          items.length > length
            ? `too many values to unpack (expected ${length})`
            : `not enough values to unpack (expected ${length}, got ${items.length})`,
        )
      for (const [at, each] of target.items.entries()) this.#assign(each, items[at], scope)
    }
  }

  async #with({ values, body }: StatementOf<'with'>, scope: Scope, output: Output): Promise<Interrupt> {
    const inner = scope.inner()
    for (const [target, value] of values)
      this.#assign(target, await this.#evaluator.evaluate(value, scope), inner)
    return this.#run(body, inner, output)
  }

  #macro(
    node: Pick<StatementOf<'macro'>, 'name' | 'parameters' | 'takes' | 'body'>,
    scope: Scope,
    output: Output,
  ): Callable {
    return macroOf(node, scope, this.#evaluator, (inner) =>
      this.#deeper(() => this.#textOf(node.body, inner, output)),
    )
  }

  async #callBlock(node: StatementOf<'call block'>, scope: Scope, output: Output): Promise<unknown> {
    const caller = this.#macro({ ...node, name: 'caller' }, scope, output)
    const called = await this.#evaluator.evaluate(node.call.of, scope)
    const { args, kwargs } = await this.#evaluator.given(node.call.given, scope)
    return this.#evaluator.call(called, { args, kwargs: new Map([...kwargs, ['caller', caller]]) })
  }

  /** The text of a block. `level` counts how often `super()` was called. */
  async #block(name: string, level: number, scope: Scope, output: Output): Promise<string> {
    const block = output.blocks.get(name)?.[level]
    if (!block) throw new UndefinedError(`there is no parent block called '${name}'.`)
    const inner = scope.inner()
    inner.set('super', this.#super(name, level + 1, scope, output))
    return this.#deeper(() => this.#textOf(block.body, inner, { ...output, template: block.template }))
  }

  /** `super()`, and `super.super()` above that. */
  #super(name: string, level: number, scope: Scope, output: Output): Callable {
    const isLast = level + 1 >= (output.blocks.get(name)?.length ?? 0)
    return new Callable(
      'super',
      () => this.#block(name, level, scope, output),
      isLast ? {} : { members: { super: this.#super(name, level + 1, scope, output) } },
    )
  }

  async #include(node: StatementOf<'include'>, scope: Scope, output: Output): Promise<string> {
    const wanted = await this.#evaluator.evaluate(node.template, scope)
    const names = Array.isArray(wanted) ? wanted : [wanted]
    for (const name of names) {
      const template = await this.#find(name, output.template.name)
      if (!template) continue
      return this.template(template, this.#contextOf(node, scope))
    }
    if (node.isOptional) return ''
    throw notFound(names.map(text).join(', '))
  }

  /** What another template sees: with the context all names but `loop`. */
  #contextOf({ withContext }: { readonly withContext: boolean }, scope: Scope): Scope {
    if (!withContext) return new Scope(this.#environment.globals)
    const around = scope.inner()
    around.set('loop', this.#environment.globals.get('loop'))
    return around.inner()
  }

  /** An imported template: its text, its macros, and the names that it sets. */
  async #exports(
    node: StatementOf<'import'> | StatementOf<'from'>,
    scope: Scope,
    output: Output,
  ): Promise<{ own: Map<string, unknown>; shown: string; name: string }> {
    const wanted = await this.#evaluator.evaluate(node.template, scope)
    const template = await this.#load(wanted, output.template.name)
    const inner = this.#contextOf(node, scope)
    const shown = await this.template(template, inner)
    return { own: inner.own, shown, name: text(wanted) }
  }

  async #module(node: StatementOf<'import'>, scope: Scope, output: Output): Promise<unknown> {
    const { own, shown } = await this.#exports(node, scope, output)
    return new HostObject({
      typeName: 'TemplateModule',
      member: (key) => (key.startsWith('_') ? undefined : own.get(key)),
      text: () => shown,
    })
  }

  async #from(node: StatementOf<'from'>, scope: Scope, output: Output): Promise<undefined> {
    const { own, name } = await this.#exports(node, scope, output)
    for (const [wanted, as] of node.names) {
      const missing = new Undefined(`the template '${name}' does not export the requested name '${wanted}'`)
      scope.set(as, own.has(wanted) ? own.get(wanted) : missing)
    }
  }

  async #load(name: unknown, from: string | undefined): Promise<Template> {
    const template = await this.#find(name, from)
    if (template) return template
    throw notFound(text(name))
  }

  async #find(name: unknown, from: string | undefined): Promise<Template | undefined> {
    if (name instanceof Undefined) name.use()
    if (typeof name !== 'string')
      throw new TemplateError(`a template is named by a text, not '${typeOf(name)}'`)
    const key = JSON.stringify([name, name.startsWith('.') ? from : ''])
    const loaded = this.#loaded.get(key)
    if (loaded) return loaded
    const source = await this.#environment.load(name, from)
    if (source === undefined) return undefined
    const template = parse(source, this.#environment.whiteSpace, name)
    this.#loaded.set(key, template)
    return template
  }
}

const notFound = (name: string): TemplateError => new TemplateError(`the template '${name}' is not there`)

/** Add where an error occurred, unless that is known. A RangeError is a limit of JavaScript: of recursion, or of the length of a text. */
function located(thrown: unknown, line: number, template: string | undefined): unknown {
  const error = thrown instanceof RangeError ? new TemplateError(thrown.message, { cause: thrown }) : thrown
  if (!(error instanceof TemplateError)) return error
  if (error.line !== undefined) return error
  error.line = line
  error.template = template
  return error
}
