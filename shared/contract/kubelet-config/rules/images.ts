import { imagePatternFault } from '../syntax/image-pattern.ts';
import { parseQuantity, wholeQuantity } from '../syntax/quantity.ts';
import { badQuantity } from './formats.ts';
import { at, needsGate, type Rule } from './rule.ts';

/** Image garbage collection, pulls, credentials, and container logs. */
export const IMAGE_RULES: readonly Rule[] = [
  function* gcThresholds(config) {
    const low = config.number('imageGCLowThresholdPercent') ?? 0;
    const high = config.number('imageGCHighThresholdPercent') ?? 0;
    // What is not a valid percentage is a fault of its own.
    if (low < high || low > 100 || high < 0) return;
    const shown = (field: string, value: number): string =>
      config.isSet(field) ? `${value}` : `${value}, its default`;
    yield {
      code: 'conflict',
      at: at(config.isSet('imageGCLowThresholdPercent') ? 'imageGCLowThresholdPercent' : 'imageGCHighThresholdPercent'),
      message: `imageGCLowThresholdPercent (${shown('imageGCLowThresholdPercent', low)}) has to be below imageGCHighThresholdPercent (${shown('imageGCHighThresholdPercent', high)})`,
      restsOn: ['imageGCLowThresholdPercent', 'imageGCHighThresholdPercent'],
    };
  },
  function* gcAges(config) {
    const minimum = config.duration('imageMinimumGCAge') ?? 0;
    const maximum = config.duration('imageMaximumGCAge') ?? 0;
    const path = at('imageMaximumGCAge');
    if (config.minor >= 36 && minimum < 0)
      yield { code: 'out-of-range', at: at('imageMinimumGCAge'), message: 'imageMinimumGCAge cannot be negative' };
    if (maximum !== 0 && !config.gate('ImageMaximumGCAge')) yield needsGate('imageMaximumGCAge', 'ImageMaximumGCAge');
    if (maximum < 0) yield { code: 'out-of-range', at: path, message: 'imageMaximumGCAge cannot be negative' };
    if (maximum > 0 && maximum <= minimum) {
      const message = 'imageMaximumGCAge has to be more than imageMinimumGCAge, which is 2m where it is not set';
      yield { code: 'conflict', at: path, message, restsOn: ['imageMaximumGCAge', 'imageMinimumGCAge'] };
    }
  },
  function* parallelPulls(config) {
    const pulls = config.number('maxParallelImagePulls') ?? 1;
    if (pulls <= 1 || config.flag('serializeImagePulls') === false) return;
    yield {
      code: 'conflict',
      at: at('maxParallelImagePulls'),
      message: `${pulls} parallel image pulls contradict serializeImagePulls: true`,
      suggestion: 'set serializeImagePulls: false',
      restsOn: ['serializeImagePulls', 'maxParallelImagePulls'],
    };
  },
  function* pullCredentials(config) {
    const policy = config.text('imagePullCredentialsVerificationPolicy') ?? '';
    const hasGate = config.gate('KubeletEnsureSecretPulledImages');
    if (policy !== '' && !hasGate)
      yield needsGate('imagePullCredentialsVerificationPolicy', 'KubeletEnsureSecretPulledImages');
    const images = config.texts('preloadedImagesVerificationAllowlist');
    const isOther = policy === '' || POLICIES_WITHOUT_LIST.includes(policy);
    if (images.length > 0 && (isOther || !hasGate)) {
      yield {
        code: 'conflict',
        at: at('preloadedImagesVerificationAllowlist'),
        message: 'the list counts only with the policy NeverVerifyAllowlistedImages, and is refused without',
        suggestion: 'set imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages',
        restsOn: ['imagePullCredentialsVerificationPolicy'],
      };
    }
    for (const [index, image] of images.entries()) {
      const fault = imagePatternFault(image);
      if (fault === undefined) continue;
      yield { code: 'bad-image-pattern', at: ['preloadedImagesVerificationAllowlist', index], ...fault };
    }
  },
  function* logSize(config) {
    const size = config.text('containerLogMaxSize') ?? '';
    const path = at('containerLogMaxSize');
    const bytes = wholeQuantity(size);
    if (parseQuantity(size) === undefined) yield badQuantity(size, path);
    else if (bytes === undefined) {
      yield {
        code: 'out-of-range',
        at: path,
        message: `${size} is not a whole number of bytes`,
        suggestion: 'write it as 10Mi',
      };
    } else if (bytes < 0n) {
      const message = 'a negative size switches the rotation of logs off, and they may fill the disk';
      yield { code: 'out-of-range', severity: 'warning', at: path, message };
    }
  },
  function* logMonitorInterval(config) {
    const interval = config.duration('containerLogMonitorInterval');
    if (interval === undefined || interval >= 3e9) return;
    yield {
      code: 'out-of-range',
      at: at('containerLogMonitorInterval'),
      message: 'the interval has to be at least 3s',
    };
  },
  function* podLogsDir(config) {
    const path = config.text('podLogsDir') ?? '';
    // A relative path is joined to the config file's folder first, which cleans it.
    if ((!path.startsWith('/') || isCleanPath(path)) && /^[\0-\x7F]*$/.test(path)) return;
    const message = `"${path}" has to be the shortest form of the path, in ASCII`;
    yield {
      code: 'bad-path',
      at: at('podLogsDir'),
      message,
      suggestion: 'leave out final and doubled slashes, . and ..',
    };
  },
];

const POLICIES_WITHOUT_LIST: readonly string[] = ['NeverVerify', 'NeverVerifyPreloadedImages', 'AlwaysVerify'];

/** Whether Go's `filepath.Clean` would leave it alone. */
function isCleanPath(path: string): boolean {
  return (
    path === '/' ||
    path
      .slice(1)
      .split('/')
      .every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
