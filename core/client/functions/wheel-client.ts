import { FunctionClient, type RunnerClientSettings } from './function-client.ts'

/** Runs wheel functions: those that manage the master itself, its keys and its configuration. */
export class WheelClient extends FunctionClient {
  constructor(settings: RunnerClientSettings) {
    super('wheel', settings)
  }
}
