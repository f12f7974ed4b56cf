import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { type Check, refuse } from '../check.ts';
import { DROP_IN_NAME } from '../../kubelet/install-drop-ins.ts';

/**
 * Among the files of a drop-in directory the last by name wins. Where that is not ours, the kubelet would run something else
 * than was assigned, and the trial would fail for that after two restarts.
 */
export const dropInsShadow: Check = ({ assigned, fromFiles, view, configDirectory, asDropIn }) =>
  contradictions(assigned, fromFiles, minorName(view.minor)).map((phrase) => {
    const field = /^[^=[]+/.exec(phrase)?.[0] ?? 'kind';
    const which = asDropIn ? ` that comes after ${DROP_IN_NAME}` : '';
    const message = `a file in ${configDirectory ?? 'a drop-in directory'}${which} wins: the kubelet would run ${phrase}`;
    return refuse('drop-in-shadows', field, message, 'take the field out of that file, or out of the config');
  });
