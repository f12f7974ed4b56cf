// Keeps the page up to date while it is open. Without it the page reads the same, as it was when it was loaded.

const live = document.querySelector('#live');
const say = (text) => {
  if (live.textContent !== text) live.textContent = text;
};

/** Attributes, text and children of `from` become those of `to`; what is the same stays, and with it focus and scrolling. */
function morph(from, to) {
  if (from.isEqualNode(to)) return;
  if (from.nodeName !== to.nodeName || keyOf(from) !== keyOf(to)) return from.replaceWith(to.cloneNode(true));
  if (from.nodeType !== Node.ELEMENT_NODE) {
    from.nodeValue = to.nodeValue;
    return;
  }
  for (const { name } of Array.from(from.attributes)) if (!to.hasAttribute(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  // What a person is choosing is theirs.
  if (from.matches('form')) return;
  morphChildren(from, to);
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.id || node.getAttribute('aria-labelledby') : null);

/** Parts that have a name stay themselves, whatever comes or goes before them. Nothing is moved: that would take its focus. */
function morphChildren(from, to) {
  let at = from.firstChild;
  for (const wanted of to.childNodes) {
    const key = keyOf(wanted);
    let same = at;
    while (same !== null && keyOf(same) !== key) same = key === null ? null : same.nextSibling;
    if (same === null) {
      from.insertBefore(wanted.cloneNode(true), at);
      continue;
    }
    while (at !== same) at = dropped(at);
    at = same.nextSibling;
    morph(same, wanted);
  }
  while (at !== null) at = dropped(at);
}

function dropped(node) {
  const after = node.nextSibling;
  node.remove();
  return after;
}

const titles = (page) => Array.from(page.querySelectorAll('.banner h3'), (each) => each.textContent.trim());

/** Reads out what needs attention since the last look, for screen readers. */
function announce(page) {
  const known = new Set(titles(document));
  const fresh = titles(page).filter((title) => !known.has(title));
  if (fresh.length > 0) document.querySelector('#news').textContent = fresh.join('. ');
}

/** Times are said in UTC, the same for everybody; pointing at one tells what the clock on the wall said. */
function sayTimes() {
  for (const time of document.querySelectorAll('time')) time.title = new Date(time.dateTime).toLocaleString();
}

let etag = null;
let isAsking = false;
let isDue = false;

async function refresh() {
  if (isAsking || document.hidden) {
    isDue = true;
    return;
  }
  isAsking = true;
  isDue = false;
  try {
    const answer = await fetch(location.href, { headers: etag === null ? {} : { 'if-none-match': etag } });
    if (answer.status === 200) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      announce(page);
      for (const id of ['main', 'as-of']) morph(document.querySelector(`#${id}`), page.querySelector(`#${id}`));
      document.title = page.title;
      etag = answer.headers.get('etag');
      sayTimes();
    }
    say(answer.ok || answer.status === 304 ? 'Live' : `Not up to date: the reconciler answers ${answer.status}`);
  } catch {
    say('Not up to date: the reconciler cannot be reached');
  } finally {
    isAsking = false;
    if (isDue) void refresh();
  }
}

sayTimes();
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** The reconciler says something every quarter of a minute: a line that is silent for longer is dead, even without a close. */
const SILENCE_MS = 60_000;
const WATCH_MS = 5_000;
let pauseMs = FIRST_PAUSE_MS;

/**
 * A browser comes back by itself to a line that broke, but not to one that fell silent, and never after an answer: that of a proxy
 * while the reconciler starts anew, or that too many follow.
 */
function follow() {
  const news = new EventSource('events');
  let heardAt = Date.now();
  const watch = setInterval(() => {
    if (Date.now() - heardAt > SILENCE_MS) again();
  }, WATCH_MS);

  function again() {
    clearInterval(watch);
    news.close();
    say('Connection lost: trying again');
    setTimeout(() => {
      follow();
      // The page itself may be there although it cannot be followed.
      void refresh();
    }, pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }

  news.addEventListener('news', () => {
    heardAt = Date.now();
    pauseMs = FIRST_PAUSE_MS;
    void refresh();
  });
  news.addEventListener('error', () => {
    if (news.readyState === EventSource.CLOSED) return again();
    heardAt = Date.now();
    say('Connection lost: trying again');
  });
}

follow();
document.addEventListener('visibilitychange', () => {
  if (isDue && !document.hidden) void refresh();
});
