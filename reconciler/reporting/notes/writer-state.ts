const OFF = 'off: ';
const SWITCHED_OFF = `${OFF}switched off`;

/**
 * What a person reads of the record of notes or statuses: whoever writes them goes on to try, unless it was switched off.
 *
 * @param state `on`, or `off: ` and why
 */
export const sayWorking = (state: string): string =>
  state.startsWith(OFF) && state !== SWITCHED_OFF ? `failing, and tried again: ${state.slice(OFF.length)}` : state;
