import type { Command } from './command.ts';
import { APPROVE } from './approve/command.ts';
import { AUDIT } from './audit/command.ts';
import { COMPLETION } from './completion/command.ts';
import { DEMO } from './demo/command.ts';
import { DIFF } from './diff/command.ts';
import { DOCTOR } from './doctor/command.ts';
import { EVENTS_COMMAND } from './events/command.ts';
import { HISTORY } from './history/command.ts';
import { IMPORT } from './import/command.ts';
import { INIT } from './init/command.ts';
import { NOTIFY } from './notify/command.ts';
import { PLAN } from './plan/command.ts';
import { FORESIGHT } from './foresight/command.ts';
import { RENDER } from './render/command.ts';
import { SIMULATE } from './simulate/command.ts';
import { RELEASE } from './release/command.ts';
import { RESUME } from './resume/command.ts';
import { STATUS } from './status/command.ts';
import { SUPPORT_BUNDLE } from './support-bundle/command.ts';
import { SUSPEND } from './suspend/command.ts';
import { VALIDATE } from './validate/command.ts';
import { WHY } from './why/command.ts';

/** Every command but completion, which needs to know the others. */
const OTHERS: readonly Command[] = [
  AUDIT,
  VALIDATE,
  PLAN,
  RENDER,
  SIMULATE,
  WHY,
  FORESIGHT,
  IMPORT,
  INIT,
  STATUS,
  DIFF,
  EVENTS_COMMAND,
  DOCTOR,
  SUPPORT_BUNDLE,
  HISTORY,
  SUSPEND,
  RESUME,
  RELEASE,
  APPROVE,
  NOTIFY,
  DEMO,
];

/** In the order in which help lists them. */
export const COMMANDS: readonly Command[] = [...OTHERS, COMPLETION(OTHERS)];
