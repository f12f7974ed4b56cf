import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { withDropIns } from '#shared/contract/kubelet-config/drop-ins.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { type Check, refuse } from '../preflight-check.ts';
import { fileThatSets, topLevelFieldOf } from '../../kubelet/config-dir-drop-ins.ts';
import { DROP_IN_NAME } from '../../kubelet/install-drop-ins.ts';

/**
 * Among the files of a drop-in directory the last by name wins. Where that is not ours, the kubelet would run something else
 * than was assigned, and the trial would fail for that after two restarts. What the agent's settings do not know of, the
 * kubelet's flag tells.
 */
export const dropInsOverride: Check = ({ assigned, fromFiles, view, configDirectory, asDropIn }, { dropIns }) => {
  const minor = minorName(view.minor);
  const whole =
    configDirectory === undefined
      ? withDropIns(
          fromFiles,
          dropIns.map(({ fields }) => fields),
          minor,
        )
      : fromFiles;
  const broken = dropIns.flatMap(({ path, fault }) => {
    if (fault === undefined || view.minor < FIRST_MINOR_THAT_IS_STRICT) return [];
    const message = `the kubelet does not start with ${path} in its --config-dir: ${fault}`;
    return [refuse('drop-in-broken', 'kind', message, 'correct that file, or remove it')];
  });
  const shadowed = contradictions(assigned, whole, minor).map((phrase) => {
    const which = asDropIn ? ` that comes after ${DROP_IN_NAME}` : '';
    const file = fileThatSets(phrase, dropIns) ?? `a file in ${configDirectory ?? 'a drop-in directory'}${which}`;
    const message = `${file} wins: the kubelet would run ${phrase}`;
    return refuse(
      'drop-in-shadows',
      topLevelFieldOf(phrase),
      message,
      'take the field out of that file, or out of the config',
    );
  });
  return [...broken, ...shadowed];
};

/** 1.28 reads drop-ins as it reads its config file. */
const FIRST_MINOR_THAT_IS_STRICT = 29;
